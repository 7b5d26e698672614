# With a raw first barrier the late half's reads are still under way when the early half writes.
# EXPECT: race WAR 9 -> 13
kernel @ping_pong_raw waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..3 {
    %x = read %a
    workgroup_barrier
    mma %x
    barrier
    write %a
    barrier
    compute
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
