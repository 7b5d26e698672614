# One more value in the range, and there is a second iteration.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @two_trips_by_step waves=4 {
  shared %a : 1024
  loop %i in 3..11 step 7 {
    write %a
    barrier
    read %a
  }
}
