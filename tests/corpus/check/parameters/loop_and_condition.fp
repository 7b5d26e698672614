# If there is at least one iteration, there is a barrier.
# EXPECT: clean
kernel @loop_and_condition waves=4 {
  shared %a : 64
  param %n
  write %a
  loop %i in 0..%n {
    barrier
  }
  if %n >= 1 {
    read %a
  }
}
