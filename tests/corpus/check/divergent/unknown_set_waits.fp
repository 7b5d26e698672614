# Whoever the unknown says waits at the barrier, the others do not come.
# EXPECT: deadlock stuck 5
kernel @unknown_set_waits waves=4 {
  if wave < ? {
    barrier
  }
}
