# Three iterations: it has not stood still yet.
# EXPECT: clean
kernel @settles_too_late waves=4 {
  shared %a : 3 x 512
  loop %i in 0..3 carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next select(%x < 2, %x + 1, %x)
  }
}
