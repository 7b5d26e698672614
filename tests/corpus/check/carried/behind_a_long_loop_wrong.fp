# 1000 % 3 = 1: the last slot that was written is 0.
# EXPECT: race RAW 7 -> 10
kernel @behind_a_long_loop_wrong waves=4 {
  shared %a : 3 x 512
  loop %i in 0..1000 carry %x = 0 {
    barrier
    write %a[%x]
    next (%x + 1) % 3
  }
  read %a[0]
}
