# Nobody ever signals.
# EXPECT: deadlock wait without signal 4
kernel @wait_alone waves=4 {
  wait 1
}
