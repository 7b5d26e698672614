# The loop that waits may not run.
# EXPECT: race RAW 5 -> 10
kernel @wait_in_an_unknown_loop waves=4 {
  shared %a : 1024
  gather_to_lds %a
  loop %i in 0..? {
    wait_count load=0
  }
  barrier
  read %a
}
