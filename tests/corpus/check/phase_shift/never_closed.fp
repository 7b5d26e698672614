# The late half meets one barrier more than the early one: its last has no partner.
# EXPECT: deadlock stuck 9
kernel @never_closed waves=4 {
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..3 {
    compute
    barrier
  }
}
