# 11 is in both.
# EXPECT: race RAW 7 -> 10
kernel @quotients_that_meet waves=4 {
  shared %a : 64
  param %n
  if %n // 4 <= 2 {
    write %a
  }
  if %n > 10 {
    read %a
  }
}
