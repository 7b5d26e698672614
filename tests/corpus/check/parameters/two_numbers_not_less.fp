# Not less includes equal, and less includes nothing else: one of the two, not both.
# EXPECT: clean
kernel @two_numbers_not_less waves=4 {
  shared %a : 64
  param %n
  param %m
  if %n < %m {
    write %a
  }
  if %m <= %n {
    read %a
  }
}
