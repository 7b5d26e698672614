# Each half has a slot, but two waves share it.
# EXPECT: race RAW 5 -> 6
kernel @halves waves=4 {
  shared %a : 2 x 256
  write %a[select(wave < 2, 0, 1)]
  read %a[select(wave < 2, 0, 1)]
}
