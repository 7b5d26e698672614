# Fifty slots without a barrier: the race is fifty iterations away.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @far_apart waves=4 {
  shared %a : 50 x 64
  loop %i in 0..100 {
    write %a[%i % 50]
  }
}
