# A thousand iterations: 1000 % 3 = 1, and slot 0 was written last.
# EXPECT: clean
kernel @behind_a_long_loop waves=4 {
  shared %a : 3 x 512
  loop %i in 0..1000 carry %x = 0 {
    barrier
    write %a[%x]
    next (%x + 1) % 3
  }
  read %a[1]
}
