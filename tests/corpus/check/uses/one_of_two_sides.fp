# On the other side nobody uses the result.
# EXPECT: race WAR 5 -> 10
kernel @one_of_two_sides waves=4 {
  shared %a : 64
  %x = read %a
  if %some {
    compute %x
  }
  workgroup_barrier
  write %a
}
