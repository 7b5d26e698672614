# A single wave is all waves.
# EXPECT: clean
kernel @alone_at_the_barrier waves=1 {
  if wave == 0 {
    barrier
  }
}
