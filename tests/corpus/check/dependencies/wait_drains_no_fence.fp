# It waits for engines, not for what the wave itself wrote: the workgroup barrier needs a fence.
# EXPECT: race RAW 6 -> 10
kernel @wait_drains_no_fence waves=4 {
  shared %a : 512
  shared %b : 512
  write %b
  %t = gather_to_lds %a
  wait_count after %t
  workgroup_barrier
  read %b
}
