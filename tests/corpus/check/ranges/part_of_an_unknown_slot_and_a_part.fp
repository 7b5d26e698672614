# Bytes 32 to 64 of slot 1 are in no slot's first 16.
# EXPECT: clean
kernel @part_of_an_unknown_slot_and_a_part waves=4 {
  shared %s : 3 x 64
  write %s[?][0..16]
  read %s[96..128]
  read %s[1][32..64]
}
