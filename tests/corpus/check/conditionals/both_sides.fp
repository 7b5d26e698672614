# A barrier on each side covers every path.
# EXPECT: clean
kernel @both_sides waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier
  } else {
    barrier
  }
  read %a
}
