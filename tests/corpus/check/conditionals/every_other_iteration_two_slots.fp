# Two slots and a barrier every other iteration: a slot comes round again behind exactly one barrier.
# EXPECT: clean
kernel @every_other_iteration_two_slots waves=4 {
  shared %a : 2 x 512
  loop %i in 0..8 {
    if %i % 2 == 0 {
      barrier
    }
    write %a[%i % 2]
  }
}
