# The same without the barrier: the next iterations come to the slot.
# EXPECT: race WAR 9 -> 8 next-iteration
# EXPECT: race RAW 8 -> 9 next-iteration
kernel @ring_without_a_barrier waves=4 {
  shared %c : 3 x 64
  param %n
  loop %i in 0..? {
    write %c[(%i + %n) % 3]
    read %c[(%i + %n + 1) % 3]
  }
}
