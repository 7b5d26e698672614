# A counter modulo two is a double buffer.
# EXPECT: clean
kernel @remainder waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next (%x + 1) % 2
  }
}
