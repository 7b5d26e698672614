# With one iteration it is one signal.
# EXPECT: clean
kernel @signal_in_a_loop_once waves=4 {
  loop %i in 0..1 {
    signal 1
  }
  wait 1
}
