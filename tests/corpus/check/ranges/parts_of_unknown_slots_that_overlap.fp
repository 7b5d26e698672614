# If it is the same slot, they share eight bytes.
# EXPECT: race RAW 5 -> 6
kernel @parts_of_unknown_slots_that_overlap waves=4 {
  shared %s : 3 x 64
  write %s[?][0..16]
  read %s[?][8..24]
}
