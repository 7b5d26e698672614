# Two tile writes are two acts.
# EXPECT: race WAW 5 -> 6
kernel @two_tiles waves=4 {
  shared %a : 1024
  write %a group=one
  write %a group=two
}
