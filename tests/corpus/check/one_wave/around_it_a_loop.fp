# The same with the loop around the conditional.
# EXPECT: race WAR 8 -> 9
# EXPECT: race RAW 9 -> 8 next-iteration
kernel @around_it_a_loop waves=4 {
  shared %a : 64
  loop %i in 0..? {
    if wave == 1 {
      read %a
      gather_to_lds %a
    }
  }
}
