# The second atomic does not hide the first from the read.
# EXPECT: race RAW 6 -> 8
# EXPECT: race RAW 7 -> 8
kernel @both_reach_the_read waves=4 {
  shared %a : 64
  atomic %a
  atomic %a
  read %a
}
