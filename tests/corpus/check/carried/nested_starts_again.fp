# The inner loop begins with slot 0 each time, where the last iteration before still reads: three is odd.
# EXPECT: race WAR 9 -> 7 next-iteration
kernel @nested_starts_again waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? {
    loop %j in 0..3 carry %y = 0 {
      write %a[%y]
      barrier
      read %a[%y]
      next %y ^ 1
    }
  }
}
