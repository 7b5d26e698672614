# One byte more, and the next iteration's begins inside.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @moving_range_overlaps waves=4 {
  shared %a : 80
  loop %i in 0..4 {
    write %a[16 * %i .. 16 * %i + 17]
  }
}
