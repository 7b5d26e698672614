# Part of one slot and part of the next do not meet.
# EXPECT: clean
kernel @slot_and_range waves=4 {
  shared %a : 2 x 64
  write %a[0][32..64]
  read %a[1][0..32]
}
