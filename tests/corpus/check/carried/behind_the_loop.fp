# Five iterations leave it at 5 % 3 = 2, which nobody has written since the last barrier.
# EXPECT: clean
kernel @behind_the_loop waves=4 {
  shared %a : 3 x 512
  loop %i in 0..5 carry %x = 0 {
    barrier
    write %a[%x]
    next (%x + 1) % 3
  }
  read %a[%x]
}
