# Two waves write, all four read.
# EXPECT: race RAW 6 -> 8
kernel @some_write_all_read waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
  }
  read %a
}
