# The waves meet, the write may still be on its way.
# EXPECT: race RAW 5 -> 7
kernel @write_not_fenced waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  read %a
}
