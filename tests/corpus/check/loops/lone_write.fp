# One write is one cooperative act, but this iteration's and the next one's are two.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @lone_write waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
  }
}
