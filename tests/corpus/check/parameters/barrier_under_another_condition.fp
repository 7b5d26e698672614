# With 3, the write is made and the barrier is not.
# EXPECT: race RAW 7 -> 12
kernel @barrier_under_another_condition waves=4 {
  shared %a : 64
  param %n
  if %n % 2 == 1 {
    write %a
  }
  if %n % 3 == 1 {
    barrier
  }
  read %a
}
