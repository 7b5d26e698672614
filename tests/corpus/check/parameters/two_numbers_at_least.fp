# A number that is less than another one is also at most as large.
# EXPECT: race RAW 8 -> 11
kernel @two_numbers_at_least waves=4 {
  shared %a : 64
  param %n
  param %m
  if %n < %m {
    write %a
  }
  if %m >= %n {
    read %a
  }
}
