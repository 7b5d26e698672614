# Two slots, one barrier: the slot that is overwritten was read before the last barrier.
# EXPECT: clean
kernel @double_buffer waves=4 {
  shared %a : 2 x 512
  loop %i in 0..8 {
    write %a[%i % 2]
    barrier
    read %a[%i % 2]
  }
}
