# The write before the loop meets the read behind it where the loop runs zero times, and the write in the
# loop where it runs once.
# EXPECT: race WAW 9 -> 11
# EXPECT: race RAW 9 -> 13
# EXPECT: race WAW 11 -> 11 next-iteration
# EXPECT: race RAW 11 -> 13
kernel @around_an_unknown_loop waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..? {
    write %a
  }
  read %a
}
