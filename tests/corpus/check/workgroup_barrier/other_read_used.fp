# The later read of %b is used, the earlier one of %a is not; but one wave's reads complete in order.
# EXPECT: clean
kernel @other_read_used waves=4 {
  shared %a : 1024
  shared %b : 1024
  %x = read %a
  %y = read %b
  compute %y
  workgroup_barrier
  write %a
  compute %x
}
