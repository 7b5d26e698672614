# Each side has a barrier, and they meet.
# EXPECT: clean
kernel @divergent_balanced waves=4 {
  shared %a : 1024
  cond_br wave < 2, ^low, ^high
^low:
  write %a
  barrier
  br ^join
^high:
  barrier
  read %a
  br ^join
^join:
  return
}
