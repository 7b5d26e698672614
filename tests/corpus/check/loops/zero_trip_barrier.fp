# A barrier in a loop that never runs orders nothing.
# EXPECT: race RAW 5 -> 9
kernel @zero_trip_barrier waves=4 {
  shared %a : 1024
  write %a
  loop %i in 4..4 {
    barrier
  }
  read %a
}
