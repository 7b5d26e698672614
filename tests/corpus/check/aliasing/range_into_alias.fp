# The range reaches one byte into the allocation that begins there.
# EXPECT: race RAW 6 -> 7
kernel @range_into_alias waves=4 {
  shared %a : 128 at 0
  shared %b : 64 at 64
  write %a[0..65]
  read %b
}
