# The slot depends on both loops: the last write of a row and the first of the next row share one.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @two_loop_variables waves=4 {
  shared %a : 4 x 64
  loop %i in 0..3 {
    loop %j in 0..2 {
      write %a[%i + %j]
    }
  }
}
