# The way compilers count round: compare and begin again.
# EXPECT: clean
kernel @select waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next select(%x + 1 < 3, %x + 1, 0)
  }
}
