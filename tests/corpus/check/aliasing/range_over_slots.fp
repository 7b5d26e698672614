# A range without a slot counts over all of them: bytes 60..70 reach into slot 1.
# EXPECT: race RAW 5 -> 6
kernel @range_over_slots waves=4 {
  shared %a : 2 x 64
  write %a[60..70]
  read %a[1][0..8]
}
