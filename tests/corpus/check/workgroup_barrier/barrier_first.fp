# The fenced barrier stands before the write, the raw one behind it.
# EXPECT: race RAW 6 -> 8
kernel @barrier_first waves=4 {
  shared %a : 1024
  barrier
  write %a
  workgroup_barrier
  read %a
}
