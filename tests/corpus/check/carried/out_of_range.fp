# It grows beyond the buffer.
# EXPECT: out-of-range 6
kernel @out_of_range waves=4 {
  shared %a : 3 x 512
  loop %i in 0..4 carry %x = 0 {
    read %a[%x]
    next %x + 1
  }
}
