# With 3 it is waited for and not signalled.
# EXPECT: race RAW 8 -> 17
# EXPECT: deadlock wait without signal 13
# EXPECT: deadlock signalled twice 10 15
kernel @split_barrier_left_over waves=4 {
  shared %a : 64
  param %n
  write %a
  if %n % 2 == 0 {
    signal
  }
  if %n < 4 {
    wait
  } else {
    barrier
  }
  read %a
}
