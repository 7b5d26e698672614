# The first and the last barrier raw, as shipped: here the data is used, and the writes fenced, in time.
# EXPECT: clean
kernel @two_slots_raw waves=4 {
  shared %a : 2 x 512
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..4 {
    %x = read %a[%i % 2]
    workgroup_barrier
    mma %x
    write %a[(%i + 1) % 2]
    barrier
    compute
    workgroup_barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
