# A slot that nobody knows may be any slot.
# EXPECT: race RAW 5 -> 6
kernel @unknown_slot waves=4 {
  shared %a : 3 x 512
  write %a[?]
  read %a[1]
}
