# Nothing says that both sides run equally often.
# EXPECT: deadlock stuck 7
# EXPECT: deadlock stuck 11
kernel @loops_of_unknown_length waves=2 {
  if wave == 0 {
    loop %i in 0..? {
      barrier
    }
  } else {
    loop %j in 0..? {
      barrier
    }
  }
}
