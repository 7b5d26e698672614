# Each iteration has its own sixteen bytes.
# EXPECT: clean
kernel @moving_range waves=4 {
  shared %a : 80
  loop %i in 0..4 {
    write %a[16 * %i .. 16 * %i + 16]
  }
}
