# One byte less.
# EXPECT: clean
kernel @range_before_alias waves=4 {
  shared %a : 128 at 0
  shared %b : 64 at 64
  write %a[0..64]
  read %b
}
