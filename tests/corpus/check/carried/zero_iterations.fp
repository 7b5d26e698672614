# If the loop does not run, the name keeps what it began with.
# EXPECT: race RAW 5 -> 10
kernel @zero_iterations waves=4 {
  shared %a : 3 x 512
  write %a[2]
  loop %i in 0..? carry %x = 2 {
    barrier
    next 0
  }
  read %a[%x]
}
