# The fenced barrier behind it does the work.
# EXPECT: clean
kernel @then_barrier waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  barrier
  read %a
}
