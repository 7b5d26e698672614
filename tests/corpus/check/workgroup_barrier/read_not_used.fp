# The result of the read is not needed yet, so the read may still be under way.
# EXPECT: race WAR 5 -> 7
kernel @read_not_used waves=4 {
  shared %a : 1024
  %x = read %a
  workgroup_barrier
  write %a
  compute %x
}
