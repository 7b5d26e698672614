# One write and one read, far from the first and the last iteration.
# EXPECT: race RAW 7 -> 10 next-iteration
kernel @middle_of_a_long_loop waves=4 {
  shared %a : 64
  loop %i in 0..64 {
    if %i == 30 {
      write %a
    }
    if %i == 31 {
      read %a
    }
  }
}
