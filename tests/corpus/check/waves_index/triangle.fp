# Every wave writes from its own place to the end; wave 0 from the start.
# EXPECT: race RAW 5 -> 6
kernel @triangle waves=4 {
  shared %a : 64
  write %a[16 * wave..64]
  read %a[0..16]
}
