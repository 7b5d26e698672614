# One barrier between the accesses is enough in step, but not for a late access and an early one.
# EXPECT: race WAR 10 -> 12
# EXPECT: race RAW 12 -> 10 next-iteration
kernel @one_barrier_between waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..3 {
    read %a
    barrier
    write %a
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
