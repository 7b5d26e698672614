# Which waves write is not known; any may.
# EXPECT: race RAW 6 -> 8
kernel @unknown_waves waves=4 {
  shared %a : 1024
  if wave < ? {
    write %a
  }
  read %a
}
