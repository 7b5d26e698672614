# It grows for ever, but only its remainder is ever asked for.
# EXPECT: clean
kernel @grows_modulo waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x % 2]
    barrier
    read %a[%x % 2]
    next %x + 1
  }
}
