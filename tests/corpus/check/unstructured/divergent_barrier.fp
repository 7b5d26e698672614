# A barrier on one side only.
# EXPECT: deadlock stuck 8
kernel @divergent_barrier waves=4 {
  shared %a : 1024
  cond_br wave < 2, ^low, ^join
^low:
  write %a
  barrier
  br ^join
^join:
  return
}
