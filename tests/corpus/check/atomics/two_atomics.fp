# Atomics do not race with each other, in the same iteration or the next.
# EXPECT: clean
kernel @two_atomics waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    atomic %a
    atomic %a
  }
}
