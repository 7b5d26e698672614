# It goes up to 2 and stays there.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @settles waves=4 {
  shared %a : 3 x 512
  loop %i in 0..8 carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next select(%x < 2, %x + 1, %x)
  }
}
