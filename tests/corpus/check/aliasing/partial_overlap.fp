# Two allocations that share half of their bytes.
# EXPECT: race RAW 6 -> 7
kernel @partial_overlap waves=4 {
  shared %a : 128 at 0
  shared %b : 128 at 64
  write %a
  read %b
}
