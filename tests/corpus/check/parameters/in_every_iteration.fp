# The side is the same in every iteration; on the one that writes there is nobody who reads.
# EXPECT: clean
kernel @in_every_iteration waves=4 {
  shared %a : 64
  param %n
  loop %i in 0..? {
    if %n % 2 == 0 {
      write %a
      barrier
    } else {
      read %a
    }
  }
}
