# With none there is no signal.
# EXPECT: deadlock wait without signal 7
kernel @signal_in_an_empty_loop waves=4 {
  loop %i in 0..0 {
    signal 1
  }
  wait 1
}
