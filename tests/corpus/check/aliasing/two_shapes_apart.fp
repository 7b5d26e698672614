# Equal slot numbers, different bytes.
# EXPECT: clean
kernel @two_shapes_apart waves=4 {
  shared %a : 4 x 128 at 0
  shared %b : 2 x 256 at 0
  write %a[1]
  read %b[1]
}
