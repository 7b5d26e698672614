# The earlier read being complete says nothing about the later one.
# EXPECT: race WAR 7 -> 10
kernel @earlier_read_used waves=4 {
  shared %a : 1024
  shared %b : 1024
  %y = read %b
  %x = read %a
  compute %y
  workgroup_barrier
  write %a
  compute %x
}
