# Nor is the write complete when the copy begins.
# EXPECT: race WAW 5 -> 6
kernel @copy_overtakes_write waves=1 {
  shared %a : 1024
  write %a
  gather_to_lds %a
}
