# The signal of another barrier does not help.
# EXPECT: deadlock wait without signal 6
# EXPECT: deadlock left signalled 5
kernel @other_id waves=4 {
  signal 1
  wait 2
}
