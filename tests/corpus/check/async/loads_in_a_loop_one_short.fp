# With seven it may be.
# EXPECT: race RAW 5 -> 11
kernel @loads_in_a_loop_one_short waves=4 {
  shared %a : 64
  gather_to_lds %a
  loop %i in 0..7 {
    global_read
  }
  wait_count load=8
  barrier
  read %a
}
