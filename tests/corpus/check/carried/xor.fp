# Flipping a bit alternates between two slots.
# EXPECT: clean
kernel @xor waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next %x ^ 1
  }
}
