# Wave 0's write of slot 0 stands behind wave 2's read of it, yet comes before it: wave 2 is delayed.
# EXPECT: wrong-order WAR 8 -> 9
kernel @wrong_order waves=4 {
  shared %a : 4 x 256
  if wave >= 2 {
    workgroup_barrier
  }
  read %a[(wave + 2) % 4]
  write %a[wave]
  barrier
  if wave < 2 {
    workgroup_barrier
  }
}
