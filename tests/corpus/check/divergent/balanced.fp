# One barrier on each side: they meet, and order the write before the read.
# EXPECT: clean
kernel @balanced waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    barrier
  } else {
    barrier
    read %a
  }
}
