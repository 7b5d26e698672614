# Two sides that write the same bytes.
# EXPECT: race WAW 6 -> 8
kernel @two_writers waves=4 {
  shared %a : 1024
  if wave == 0 {
    write %a
  } else {
    write %a
  }
}
