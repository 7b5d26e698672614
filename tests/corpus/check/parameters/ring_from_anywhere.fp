# A ring that a parameter says where to begin in: reads stay one slot ahead of writes.
# EXPECT: clean
kernel @ring_from_anywhere waves=4 {
  shared %c : 3 x 64
  param %n
  loop %i in 0..? {
    write %c[(%i + %n) % 3]
    read %c[(%i + %n + 1) % 3]
    barrier
  }
}
