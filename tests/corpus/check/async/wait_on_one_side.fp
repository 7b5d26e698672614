# Where the flag is not set, nobody waits.
# EXPECT: race RAW 5 -> 10
kernel @wait_on_one_side waves=4 {
  shared %a : 1024
  gather_to_lds %a
  if %c {
    wait_count load=0
  }
  barrier
  read %a
}
