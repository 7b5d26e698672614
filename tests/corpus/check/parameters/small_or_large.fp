# No number is less than 3 and more than 4.
# EXPECT: clean
kernel @small_or_large waves=4 {
  shared %a : 64
  param %n
  if %n < 3 {
    write %a
  }
  if %n > 4 {
    read %a
  }
}
