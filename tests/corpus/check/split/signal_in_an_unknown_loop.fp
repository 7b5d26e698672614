# No iteration: no signal. Two iterations: one too many.
# EXPECT: deadlock wait without signal 8
# EXPECT: deadlock signalled twice 6 6
kernel @signal_in_an_unknown_loop waves=4 {
  loop %i in 0..? {
    signal 1
  }
  wait 1
}
