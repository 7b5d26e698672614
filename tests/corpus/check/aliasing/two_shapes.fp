# One memory seen as 4 x 128 and as 2 x 256: slot 2 of the one lies in slot 1 of the other.
# EXPECT: race RAW 6 -> 7
kernel @two_shapes waves=4 {
  shared %a : 4 x 128 at 0
  shared %b : 2 x 256 at 0
  write %a[2]
  read %b[1]
}
