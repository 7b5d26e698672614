# Signalled and waited for under one condition.
# EXPECT: clean
kernel @split_barrier waves=4 {
  shared %a : 64
  param %n
  write %a
  if %n % 2 == 0 {
    signal
  }
  if %n % 2 == 0 {
    wait
  } else {
    barrier
  }
  read %a
}
