# Two waves to a slot.
# EXPECT: race RAW 5 -> 6
kernel @shared_by_two waves=4 {
  shared %a : 2 x 256
  write %a[wave // 2]
  read %a[wave // 2]
}
