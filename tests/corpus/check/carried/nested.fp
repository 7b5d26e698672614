# The inner loop goes on where the outer one stands, and hands back where it has come to.
# EXPECT: clean
kernel @nested waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0 {
    loop %j in 0..3 carry %y = %x {
      write %a[%y]
      barrier
      read %a[%y]
      next %y ^ 1
    }
    next %y
  }
}
