# A loop of unknown length may run zero times, so its barrier covers nothing.
# EXPECT: race RAW 5 -> 9
kernel @unknown_trip_barrier waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..? {
    barrier
  }
  read %a
}
