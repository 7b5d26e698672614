# The write in the middle loop and the reads of the next round of it: no barrier on either back edge.
# EXPECT: race RAW 11 -> 8 next-iteration
kernel @nested_three_deep waves=4 {
  shared %a : 1024
  loop %i in 0..2 {
    loop %j in 0..3 {
      loop %k in 0..4 {
        read %a
      }
      barrier
      write %a
    }
  }
}
