# 3 is at most 3 and at least 3.
# EXPECT: race RAW 7 -> 10
kernel @both_at_three waves=4 {
  shared %a : 64
  param %n
  if %n <= 3 {
    write %a
  }
  if %n >= 3 {
    read %a
  }
}
