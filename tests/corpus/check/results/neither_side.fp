# It may be 0 or 1, and it is 2 that is read.
# EXPECT: clean
kernel @neither_side waves=4 {
  shared %a : 3 x 64
  if %c gives %n {
    give 0
  } else {
    give 1
  }
  write %a[%n]
  read %a[2]
}
