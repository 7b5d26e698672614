# Two named pairs, one inside the other's stretch.
# EXPECT: clean
kernel @overlapping_pairs waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  signal 1
  write %b
  signal 2
  wait 1
  read %a
  wait 2
  read %b
}
