# It counts by two, modulo two: there is only one buffer after all.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @remainder_stands_still waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next (%x + 2) % 2
  }
}
