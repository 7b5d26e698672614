# Atomics need the fence like writes do.
# EXPECT: race RAW 5 -> 7
kernel @atomic_not_fenced waves=4 {
  shared %a : 1024
  atomic %a
  workgroup_barrier
  read %a
}
