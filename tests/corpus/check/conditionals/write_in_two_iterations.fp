# Here it runs twice.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @write_in_two_iterations waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    if %i >= 2 {
      write %a
    }
  }
}
