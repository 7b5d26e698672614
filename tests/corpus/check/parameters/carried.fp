# What a loop carries from a parameter on is known as far as the parameter is.
# EXPECT: clean
kernel @carried waves=4 {
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
    next %x
  }
}
