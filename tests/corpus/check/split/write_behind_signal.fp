# What comes after the signal is not announced by it.
# EXPECT: race RAW 6 -> 8
kernel @write_behind_signal waves=4 {
  shared %a : 1024
  signal 1
  write %a
  wait 1
  read %a
}
