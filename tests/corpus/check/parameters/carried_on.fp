# The next iteration is on the other side, so that reads meet writes after all.
# EXPECT: race WAR 8 -> 11
kernel @carried_on waves=4 {
  shared %a : 64
  param %n
  loop %i in 0..? carry %x = %n % 2 {
    if %x == 0 {
      read %a
    }
    if %n % 2 == 1 {
      write %a
      barrier
    }
    next 1 - %x
  }
}
