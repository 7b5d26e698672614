# A write of the value into another buffer is a use as well.
# EXPECT: clean
kernel @read_used_by_write waves=4 {
  shared %a : 1024
  shared %b : 1024
  %x = read %a
  write %b, %x
  workgroup_barrier
  write %a
}
