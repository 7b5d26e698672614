# A full turn each iteration: every wave keeps its slot.
# EXPECT: clean
kernel @rotating_full_turn waves=4 {
  shared %a : 4 x 256
  loop %i in 0..4 {
    write %a[(wave + 4 * %i) % 4]
  }
}
