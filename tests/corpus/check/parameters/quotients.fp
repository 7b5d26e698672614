# Up to 7 the quotient is less than 2.
# EXPECT: clean
kernel @quotients waves=4 {
  shared %a : 64
  param %n
  if %n // 4 < 2 {
    write %a
  }
  if %n > 7 {
    read %a
  }
}
