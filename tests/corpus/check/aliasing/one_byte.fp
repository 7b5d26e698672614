# The last byte of one range is the first of the other.
# EXPECT: race RAW 5 -> 6
kernel @one_byte waves=4 {
  shared %a : 128
  write %a[0..64]
  read %a[63..128]
}
