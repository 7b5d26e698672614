# A split barrier must be in step however few waves there are.
# EXPECT: deadlock left signalled 4
kernel @left_signalled waves=1 {
  signal 1
}
