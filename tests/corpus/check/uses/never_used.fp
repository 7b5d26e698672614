# Nobody uses the result.
# EXPECT: race WAR 5 -> 7
kernel @never_used waves=4 {
  shared %a : 64
  %x = read %a
  workgroup_barrier
  write %a
}
