# A range of unknown length may reach the last byte.
# EXPECT: race RAW 5 -> 6
kernel @unknown_range waves=4 {
  shared %a : 64
  write %a[0..?]
  read %a[63..64]
}
