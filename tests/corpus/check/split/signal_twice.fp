# A second signal before the wait: the phases of the waves no longer agree.
# EXPECT: deadlock signalled twice 4 5
kernel @signal_twice waves=4 {
  signal 1
  signal 1
  wait 1
}
