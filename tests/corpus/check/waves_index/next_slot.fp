# Every wave reads what its neighbour has written.
# EXPECT: race RAW 5 -> 6
kernel @next_slot waves=4 {
  shared %a : 4 x 256
  write %a[wave]
  read %a[(wave + 1) % 4]
}
