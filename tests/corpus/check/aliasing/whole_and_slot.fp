# A view of all slots includes the last one.
# EXPECT: race RAW 5 -> 6
kernel @whole_and_slot waves=4 {
  shared %a : 3 x 64
  write %a
  read %a[2]
}
