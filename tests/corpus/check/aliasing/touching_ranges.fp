# Ranges exclude their end: these do not meet.
# EXPECT: clean
kernel @touching_ranges waves=4 {
  shared %a : 128
  write %a[0..64]
  read %a[64..128]
}
