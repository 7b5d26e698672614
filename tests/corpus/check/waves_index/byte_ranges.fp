# Sixty-four bytes each.
# EXPECT: clean
kernel @byte_ranges waves=4 {
  shared %a : 256
  write %a[64 * wave..64 * wave + 64]
  read %a[64 * wave..64 * wave + 64]
}
