# And %v is the one that was.
# EXPECT: race RAW 8 -> 11
kernel @behind_the_loop_other waves=4 {
  shared %a : 512
  shared %b : 512
  loop %i in 0..3 carry %u = %a, %v = %b {
    barrier
    write %u
    next %v, %u
  }
  read %v
}
