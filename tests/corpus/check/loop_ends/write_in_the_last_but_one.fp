# The same one iteration earlier: the last one reads.
# EXPECT: race RAW 9 -> 11 next-iteration
kernel @write_in_the_last_but_one waves=4 {
  shared %a : 1024
  param %n
  loop %i in 0..%n {
    if %i == %n - 2 {
      barrier
      write %a
    } else {
      read %a
    }
  }
}
