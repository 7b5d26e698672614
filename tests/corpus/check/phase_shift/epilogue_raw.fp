# In step, but the writes were never fenced.
# EXPECT: race RAW 8 -> 13
kernel @epilogue_raw waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  write %a
  workgroup_barrier
  if wave < 2 {
    workgroup_barrier
  }
  read %a
}
