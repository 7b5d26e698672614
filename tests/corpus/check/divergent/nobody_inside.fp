# No wave takes this side, so nobody waits.
# EXPECT: clean
kernel @nobody_inside waves=4 {
  if wave >= 4 {
    barrier
  }
}
