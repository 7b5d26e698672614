# Any slot may be next.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @unknown_step waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next (%x + ?) % 3
  }
}
