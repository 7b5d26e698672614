# Sixty-three waves read their own slot; the last one reads the first.
# EXPECT: race RAW 5 -> 6 waves 0,63
kernel @last_wave_differs waves=64 {
  shared %a : 64 x 16
  write %a[wave]
  read %a[select(wave == 63, 0, wave)]
}
