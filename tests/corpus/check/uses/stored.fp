# Whatever uses the result will do.
# EXPECT: clean
kernel @stored waves=4 {
  shared %a : 64
  %x = read %a
  global_write %x
  workgroup_barrier
  write %a
}
