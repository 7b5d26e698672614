# Nothing is known about one number from another one.
# EXPECT: race RAW 8 -> 11
kernel @two_numbers_unrelated waves=4 {
  shared %a : 64
  param %n
  param %m
  if %n < 3 {
    write %a
  }
  if %m > 4 {
    read %a
  }
}
