# It may be either slot.
# EXPECT: race RAW 10 -> 11
kernel @either_side waves=4 {
  shared %a : 2 x 64
  if %c gives %n {
    give 0
  } else {
    give 1
  }
  write %a[%n]
  read %a[1]
}
