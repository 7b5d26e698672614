# Only half of the waves wait; the other half's copies may still be in flight.
# EXPECT: race RAW 5 -> 10
kernel @wait_of_some_waves waves=4 {
  shared %a : 1024
  gather_to_lds %a
  if wave < 2 {
    wait_count load=0
  }
  barrier
  read %a
}
