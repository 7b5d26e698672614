# Each wave waits for a barrier that the other signals only afterwards.
# EXPECT: deadlock stuck 6 11
kernel @opposite_order waves=2 {
  if wave == 0 {
    signal 1
    wait 1
    signal 2
    wait 2
  } else {
    signal 2
    wait 2
    signal 1
    wait 1
  }
}
