# The second read is not complete with the first.
# EXPECT: race WAR 7 -> 10
kernel @an_earlier_read_is_used waves=4 {
  shared %a : 64
  shared %b : 64
  %x = read %a
  %y = read %b
  mma %x
  workgroup_barrier
  write %b
}
