# The twin without the shift.
# EXPECT: clean
kernel @one_barrier_in_step waves=4 {
  shared %a : 1024
  loop %i in 0..3 {
    read %a
    barrier
    write %a
    barrier
  }
}
