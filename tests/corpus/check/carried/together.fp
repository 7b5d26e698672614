# All names change at the same time: the two swap, and never meet.
# EXPECT: clean
kernel @together waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0, %y = 1 {
    write %a[%x]
    read %a[%y]
    barrier
    next %y, %x
  }
}
