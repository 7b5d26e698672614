# Two buffers, two independent races, crossed over.
# EXPECT: race RAW 7 -> 10
# EXPECT: race RAW 8 -> 9
kernel @two_buffers waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  read %b
  read %a
}
