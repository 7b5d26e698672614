# A barrier every seventh iteration and a ring of five: slot 0 comes round before the first barrier.
# EXPECT: race WAW 9 -> 9 next-iteration
kernel @barrier_out_of_step_with_ring waves=4 {
  shared %a : 5 x 64
  loop %i in 0..28 {
    if %i % 7 == 6 {
      barrier
    }
    write %a[%i % 5]
  }
}
