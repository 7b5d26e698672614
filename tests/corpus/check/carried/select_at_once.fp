# It begins again at once.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @select_at_once waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next select(%x + 1 < 1, %x + 1, 0)
  }
}
