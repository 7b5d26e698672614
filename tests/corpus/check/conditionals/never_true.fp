# Nor is this one: the barrier is never there.
# EXPECT: race RAW 5 -> 9
kernel @never_true waves=4 {
  shared %a : 1024
  write %a
  if 1 < 0 {
    barrier
  }
  read %a
}
