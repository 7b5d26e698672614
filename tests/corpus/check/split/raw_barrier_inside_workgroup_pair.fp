# So does one without a fence.
# EXPECT: deadlock signalled twice 4 5
kernel @raw_barrier_inside_workgroup_pair waves=4 {
  signal
  workgroup_barrier
  wait
}
