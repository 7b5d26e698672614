# The late half reads slot 0 while the early half fills slot 1; what is filled is read two barriers on.
# EXPECT: clean
kernel @two_slots_two_barriers waves=4 {
  shared %a : 2 x 512
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..4 {
    %x = read %a[%i % 2]
    barrier
    mma %x
    write %a[(%i + 1) % 2]
    barrier
    compute
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
