# The early half reads before the closing barrier, in the stretch in which the late half writes.
# EXPECT: race RAW 8 -> 10
kernel @epilogue_too_early waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  write %a
  barrier
  read %a
  if wave < 2 {
    workgroup_barrier
  }
}
