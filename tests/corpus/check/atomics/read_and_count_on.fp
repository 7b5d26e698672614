# The next iteration counts on while others still read.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @read_and_count_on waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    atomic %a
    barrier
    read %a
  }
}
