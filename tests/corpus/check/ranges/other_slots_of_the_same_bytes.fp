# Slots of another size: byte 128 is the first of slot 2 here and in the last part of slot 2 there.
# EXPECT: race RAW 6 -> 7
kernel @other_slots_of_the_same_bytes waves=4 {
  shared %s : 3 x 64 at 0
  shared %t : 4 x 48 at 0
  write %s[?][0..16]
  read %t[?][32..48]
}
