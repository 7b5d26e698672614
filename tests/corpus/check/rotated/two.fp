# Two buffers change places: what is written was read before the last barrier.
# EXPECT: clean
kernel @two waves=4 {
  shared %a : 512
  shared %b : 512
  loop %i in 0..? carry %u = %a, %v = %b {
    write %u
    barrier
    read %u
    next %v, %u
  }
}
