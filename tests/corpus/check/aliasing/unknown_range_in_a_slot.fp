# But not the next slot.
# EXPECT: clean
kernel @unknown_range_in_a_slot waves=4 {
  shared %a : 2 x 64
  write %a[0][?..64]
  read %a[1]
}
