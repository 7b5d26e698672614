# The second iteration signals again before anyone waited.
# EXPECT: deadlock signalled twice 5 5
kernel @signal_in_a_loop waves=4 {
  loop %i in 0..2 {
    signal 1
  }
  wait 1
}
