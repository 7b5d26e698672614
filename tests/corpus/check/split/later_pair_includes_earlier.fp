# What was done before the first signal was done before the second.
# EXPECT: clean
kernel @later_pair_includes_earlier waves=4 {
  shared %a : 64
  write %a
  signal 1
  signal 2
  wait 2
  read %a
  wait 1
}
