# Round after round in one scratch buffer.
# EXPECT: race WAR 6 -> 6 next-iteration
kernel @in_a_loop waves=4 {
  shared %s : 512
  loop %i in 0..4 {
    exchange %s
  }
}
