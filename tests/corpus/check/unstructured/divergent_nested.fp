# Wave 0 writes, wave 1 reads, waves 2 and 3 read elsewhere; the sides run in the order of the text, and
# the second read lies behind the first.
# EXPECT: race RAW 10 -> 13 waves 0,1
kernel @divergent_nested waves=4 {
  shared %a : 64
  cond_br wave < 2, ^low, ^high
^low:
  cond_br wave < 1, ^first, ^second
^first:
  write %a
  br ^join
^second:
  read %a
  br ^join
^high:
  read %a
  br ^join
^join:
  return
}
