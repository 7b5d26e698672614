# The slots move on by one wave each iteration.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @rotating waves=4 {
  shared %a : 4 x 256
  loop %i in 0..4 {
    write %a[(wave + %i) % 4]
  }
}
