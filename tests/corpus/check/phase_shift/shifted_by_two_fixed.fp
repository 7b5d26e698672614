# Three.
# EXPECT: clean
kernel @shifted_by_two_fixed waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
    workgroup_barrier
  }
  read %a
  barrier
  barrier
  barrier
  write %a
  barrier
  if wave < 2 {
    workgroup_barrier
    workgroup_barrier
  }
}
