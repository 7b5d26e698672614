# The first read takes half of what was written, the second the rest: the second race lies behind the first.
# EXPECT: race RAW 5 -> 6
kernel @conflict_behind_half waves=4 {
  shared %a : 128
  write %a
  read %a[0..64]
  read %a[64..128]
}
