# It never comes back in nine iterations.
# EXPECT: clean
kernel @grows waves=4 {
  shared %a : 9 x 512
  loop %i in 0..9 carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next %x + 1
  }
}
