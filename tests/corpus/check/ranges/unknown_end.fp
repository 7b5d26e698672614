# Where the part ends is not known either: it may reach any byte of any slot.
# EXPECT: race RAW 5 -> 6
kernel @unknown_end waves=4 {
  shared %s : 3 x 64
  write %s[?][0..16]
  read %s[?][32..?]
}
