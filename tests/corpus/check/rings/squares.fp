# The square of a number is 0 or 1 modulo 4.
# EXPECT: clean
kernel @squares waves=4 {
  shared %a : 4 x 64
  write %a[2]
  write %a[3]
  loop %i in 0..100 {
    read %a[%i * %i % 4]
  }
}
