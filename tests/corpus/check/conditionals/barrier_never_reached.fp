# An even number is never odd, so the barrier never runs.
# EXPECT: race RAW 5 -> 11
kernel @barrier_never_reached waves=4 {
  shared %a : 64
  write %a
  loop %i in 0..50 {
    if %i * 2 % 2 == 1 {
      barrier
    }
  }
  read %a
}
