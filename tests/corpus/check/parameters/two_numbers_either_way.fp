# One of two numbers is less than the other one, or neither is.
# EXPECT: clean
kernel @two_numbers_either_way waves=4 {
  shared %a : 64
  param %n
  param %m
  if %n < %m {
    write %a
  }
  if %m < %n {
    read %a
  }
}
