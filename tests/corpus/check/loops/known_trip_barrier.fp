# A loop that runs at least once does cover.
# EXPECT: clean
kernel @known_trip_barrier waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..4 {
    barrier
  }
  read %a
}
