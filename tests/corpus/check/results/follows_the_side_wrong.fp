# On one side it is the very slot that was written.
# EXPECT: race RAW 9 -> 12
kernel @follows_the_side_wrong waves=4 {
  shared %a : 2 x 64
  if %c gives %n {
    write %a[0]
    give 1
  } else {
    write %a[1]
    give 1
  }
  read %a[%n]
}
