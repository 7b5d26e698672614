# Waves 0 and 1 wait for the signal of waves 2 and 3, which wait as well: both are marked, on one line.
# EXPECT: deadlock stuck 7 7
kernel @signal_of_some_waves waves=4 {
  if wave < 2 {
    signal 1
  }
  wait 1
}
