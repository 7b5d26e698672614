# A fence before the write does not include it.
# EXPECT: race RAW 6 -> 8
kernel @fence_too_early waves=4 {
  shared %a : 1024
  wait_count lds=0
  write %a
  workgroup_barrier
  read %a
}
