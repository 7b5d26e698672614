# Wave 0 is certain to meet the barrier; whether the others do is not known.
# EXPECT: race RAW 6 -> 10
# EXPECT: deadlock stuck 8
kernel @barrier_for_a_set_that_one_wave_knows waves=2 {
  shared %a : 64
  write %a
  if select(wave == 0, 0, ?) == 0 {
    barrier
  }
  read %a
}
