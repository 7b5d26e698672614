# A sum of two numbers has one value.
# EXPECT: clean
kernel @sums waves=4 {
  shared %a : 64
  param %n
  param %m
  if %n + %m == 4 {
    write %a
  }
  if %m > 5 - %n {
    read %a
  }
}
