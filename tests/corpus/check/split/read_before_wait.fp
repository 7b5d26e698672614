# A wave that has signalled has not yet heard from the others.
# EXPECT: race RAW 5 -> 7
kernel @read_before_wait waves=4 {
  shared %a : 1024
  write %a
  signal 1
  read %a
  wait 1
}
