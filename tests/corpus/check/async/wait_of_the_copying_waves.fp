# Only half of the waves copy, and that half waits.
# EXPECT: clean
kernel @wait_of_the_copying_waves waves=4 {
  shared %a : 1024
  if wave < 2 {
    gather_to_lds %a
    wait_count load=0
  }
  barrier
  read %a
}
