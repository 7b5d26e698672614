# Whichever slots these are, the parts are different bytes.
# EXPECT: clean
kernel @parts_of_unknown_slots waves=4 {
  shared %s : 3 x 64
  write %s[?][0..16]
  read %s[?][32..64]
}
