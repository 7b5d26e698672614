# A barrier on one side does not cover the other.
# EXPECT: race RAW 5 -> 9
kernel @one_side waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier
  }
  read %a
}
