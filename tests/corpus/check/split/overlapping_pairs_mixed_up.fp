# The wait for the first pair does not announce what the second signal does.
# EXPECT: race RAW 8 -> 11
kernel @overlapping_pairs_mixed_up waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  signal 1
  write %b
  signal 2
  wait 1
  read %b
  wait 2
  read %a
}
