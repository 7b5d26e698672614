# With 1 the first iteration does both.
# EXPECT: race RAW 8 -> 11
kernel @first_iteration_below_a_number waves=4 {
  shared %a : 64
  param %n
  loop %i in 0..4 {
    if %i < %n {
      write %a
    }
    if %n < 2 {
      read %a
    }
    barrier
  }
}
