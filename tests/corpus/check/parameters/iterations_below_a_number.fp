# With less than 1 no iteration writes.
# EXPECT: clean
kernel @iterations_below_a_number waves=4 {
  shared %a : 64
  param %n
  loop %i in 0..4 {
    if %i < %n {
      write %a
    }
    if %n < 1 {
      read %a
    }
    barrier
  }
}
