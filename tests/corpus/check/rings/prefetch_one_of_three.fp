# Or one slot less ahead.
# EXPECT: clean
kernel @prefetch_one_of_three waves=4 {
  shared %a : 3 x 512
  loop %i in 0..9 {
    write %a[(%i + 1) % 3]
    barrier
    read %a[%i % 3]
  }
}
