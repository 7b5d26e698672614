# Twenty iterations with one barrier meet ten with two.
# EXPECT: clean
kernel @loops_with_equal_barriers waves=2 {
  if wave == 0 {
    loop %i in 0..20 {
      barrier
    }
  } else {
    loop %j in 0..10 {
      barrier
      barrier
    }
  }
}
