# Where the flag is not set nobody signals.
# EXPECT: deadlock wait without signal 7
kernel @signal_on_one_side waves=4 {
  if %c {
    signal 1
  }
  wait 1
}
