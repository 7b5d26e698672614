# Members do not hide each other from a read behind them.
# EXPECT: race RAW 6 -> 8
# EXPECT: race RAW 7 -> 8
kernel @both_reach_the_read waves=4 {
  shared %a : 1024
  write %a group=tile
  write %a group=tile
  read %a
}
