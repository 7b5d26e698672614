# Opened and closed by the same half: two barriers too many for it.
# EXPECT: deadlock stuck 8
kernel @same_half_twice waves=4 {
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..1 {
    barrier
  }
  if wave >= 2 {
    workgroup_barrier
  }
}
