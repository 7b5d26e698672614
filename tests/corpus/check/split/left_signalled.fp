# A signal that nobody waits for.
# EXPECT: deadlock left signalled 6
kernel @left_signalled waves=4 {
  shared %a : 1024
  write %a
  signal 1
}
