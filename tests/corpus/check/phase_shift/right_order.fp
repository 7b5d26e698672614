# Two more barriers between them, and the late read comes first again.
# EXPECT: clean
kernel @right_order waves=4 {
  shared %a : 4 x 256
  if wave >= 2 {
    workgroup_barrier
  }
  read %a[(wave + 2) % 4]
  barrier
  barrier
  write %a[wave]
  barrier
  if wave < 2 {
    workgroup_barrier
  }
}
