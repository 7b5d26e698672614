# They meet, but the write may still be on its way: these barriers do not fence.
# EXPECT: race RAW 6 -> 10
kernel @balanced_without_fence waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    workgroup_barrier
  } else {
    workgroup_barrier
    read %a
  }
}
