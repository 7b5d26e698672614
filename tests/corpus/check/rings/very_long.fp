# Three thousand million iterations, and nobody counts them.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @very_long waves=4 {
  shared %a : 2 x 64
  loop %i in 0..3000000000 {
    write %a[%i % 2]
  }
}
