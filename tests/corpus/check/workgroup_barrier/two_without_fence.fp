# Two rendezvous without a fence are no better than one.
# EXPECT: race RAW 5 -> 8
kernel @two_without_fence waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  workgroup_barrier
  read %a
}
