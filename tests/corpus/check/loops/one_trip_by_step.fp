# A large step also makes it one iteration.
# EXPECT: clean
kernel @one_trip_by_step waves=4 {
  shared %a : 1024
  loop %i in 3..10 step 7 {
    write %a
    barrier
    read %a
  }
}
