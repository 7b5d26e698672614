# A barrier between the turns.
# EXPECT: clean
kernel @turns_fixed waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    if wave == %i {
      write %a
    }
    barrier
  }
}
