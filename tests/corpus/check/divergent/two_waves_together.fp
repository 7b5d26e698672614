# Two waves on the same side are two waves.
# EXPECT: race RAW 6 -> 7
kernel @two_waves_together waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    read %a
  }
}
