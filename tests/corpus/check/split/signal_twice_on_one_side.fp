# Only half of the waves signal twice; the two signals are named as they are where all waves do.
# EXPECT: deadlock signalled twice 5 6
kernel @signal_twice_on_one_side waves=4 {
  if wave < 2 {
    signal 1
    signal 1
    wait 1
  } else {
    signal 1
    wait 1
  }
}
