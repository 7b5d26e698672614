# The last range ends eight bytes too late.
# EXPECT: out-of-range 6
kernel @bytes_past_the_end waves=4 {
  shared %a : 120
  loop %i in 0..4 {
    read %a[32 * %i .. 32 * %i + 32]
  }
}
