# Two writes of different waves: which one stays is anybody's guess.
# EXPECT: race WAW 5 -> 6
kernel @waw waves=4 {
  shared %a : 1024
  write %a
  write %a
}
