# One of the slots could be slot 1.
# EXPECT: race RAW 5 -> 6
kernel @part_of_an_unknown_slot_and_a_slot waves=4 {
  shared %s : 3 x 64
  write %s[?][0..16]
  read %s[1]
}
