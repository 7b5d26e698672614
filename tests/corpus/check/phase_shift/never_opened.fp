# The closing barrier alone: the lower half waits at it for ever.
# EXPECT: deadlock stuck 9
kernel @never_opened waves=4 {
  loop %i in 0..3 {
    compute
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
