# Reading one byte more than the own part is reading the neighbour's.
# EXPECT: race RAW 5 -> 6
kernel @halo waves=4 {
  shared %a : 257
  write %a[64 * wave..64 * wave + 64]
  read %a[64 * wave..64 * wave + 65]
}
