# From 0 to 2 and back.
# EXPECT: clean
kernel @jump waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next select(%x == 0, 2, 0)
  }
}
