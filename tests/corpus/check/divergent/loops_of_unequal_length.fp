# Twenty barriers and twenty-one: the last one waits alone.
# EXPECT: deadlock stuck 10
kernel @loops_of_unequal_length waves=2 {
  if wave == 0 {
    loop %i in 0..20 {
      barrier
    }
  } else {
    loop %j in 0..21 {
      barrier
    }
  }
}
