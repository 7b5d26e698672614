# Buffers and slots at once: a slot of another buffer is another place.
# EXPECT: clean
kernel @slots waves=4 {
  shared %a : 2 x 64
  shared %b : 2 x 64
  loop %i in 0..8 carry %u = %a, %v = %b {
    write %u[%i % 2]
    read %v[%i % 2]
    barrier
    next %v, %u
  }
}
