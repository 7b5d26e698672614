# The signal of another barrier does not help. Nobody gets as far as leaving that one signalled.
# EXPECT: deadlock wait without signal 5
kernel @other_id waves=4 {
  signal 1
  wait 2
}
