# The other buffer begins one slot further on: parts stay apart.
# EXPECT: clean
kernel @other_slots_that_line_up waves=4 {
  shared %s : 3 x 64 at 0
  shared %t : 3 x 64 at 64
  write %s[?][0..16]
  read %t[(? + 1) % 3][32..48]
}
