# A parameter is odd or even, never both.
# EXPECT: clean
kernel @odd_or_even waves=4 {
  shared %a : 64
  param %n
  if %n % 2 == 1 {
    write %a
  }
  if %n % 2 == 0 {
    read %a
  }
}
