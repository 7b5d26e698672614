# Two barriers: one for the write after the read, one for the read of the next iteration.
# EXPECT: clean
kernel @carried_fixed waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier
    read %a
    barrier
    write %a
  }
}
