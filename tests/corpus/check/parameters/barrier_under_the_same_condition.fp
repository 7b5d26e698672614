# Whoever wrote comes by the barrier: it is the same question each time.
# EXPECT: clean
kernel @barrier_under_the_same_condition waves=4 {
  shared %a : 64
  param %n
  if %n % 2 == 1 {
    write %a
  }
  if %n % 2 == 1 {
    barrier
  }
  read %a
}
