# Every write is followed by a barrier in the next iteration, before the next write.
# EXPECT: clean
kernel @even_writes_odd_barriers waves=4 {
  shared %a : 64
  loop %i in 0..8 {
    if %i % 2 == 0 {
      write %a
    }
    if %i % 2 == 1 {
      barrier
    }
  }
}
