# Even waves read their right neighbour's slot, odd ones their left.
# EXPECT: race RAW 5 -> 6
kernel @partner waves=4 {
  shared %a : 4 x 256
  write %a[wave]
  read %a[select(wave % 2 == 0, wave + 1, wave - 1)]
}
