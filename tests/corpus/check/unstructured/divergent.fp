# A branch on the wave: the two sides are run by different waves.
# EXPECT: race RAW 7 -> 10
kernel @divergent waves=4 {
  shared %a : 1024
  cond_br wave < 2, ^low, ^high
^low:
  write %a
  br ^join
^high:
  read %a
  br ^join
^join:
  return
}
