# A condition between constants is no choice: the barrier is always there.
# EXPECT: clean
kernel @always_true waves=4 {
  shared %a : 1024
  write %a
  if 0 < 1 {
    barrier
  }
  read %a
}
