# There is no wave 1 to be stuck, and no wave that waits for it.
# EXPECT: clean
kernel @nobody_else waves=1 {
  if wave >= 1 {
    barrier
  }
}
