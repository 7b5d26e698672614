# The read is complete when its result is written, the write is not.
# EXPECT: race RAW 7 -> 10
kernel @written_elsewhere waves=4 {
  shared %a : 64
  shared %b : 64
  %x = read %a
  write %b, %x
  workgroup_barrier
  write %a
  read %b
}
