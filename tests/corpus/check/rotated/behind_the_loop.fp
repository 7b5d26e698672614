# After an odd number of turns %u is the buffer that was not written last.
# EXPECT: clean
kernel @behind_the_loop waves=4 {
  shared %a : 512
  shared %b : 512
  loop %i in 0..3 carry %u = %a, %v = %b {
    barrier
    write %u
    next %v, %u
  }
  read %u
}
