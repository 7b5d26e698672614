# A parameter can be negative.
# EXPECT: race RAW 7 -> 10
kernel @both_below_zero waves=4 {
  shared %a : 64
  param %n
  if %n < -3 {
    write %a
  }
  if %n < -5 {
    read %a
  }
}
