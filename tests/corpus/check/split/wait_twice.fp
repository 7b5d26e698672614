# One signal serves one wait.
# EXPECT: deadlock wait without signal 6
kernel @wait_twice waves=4 {
  signal 1
  wait 1
  wait 1
}
