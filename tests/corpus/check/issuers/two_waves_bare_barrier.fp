# A barrier without the wait does not help: the copy may still be under way.
# EXPECT: race WAW 6 -> 10
kernel @two_waves_bare_barrier waves=2 {
  shared %a : 64
  if wave == 0 {
    gather_to_lds %a
  }
  barrier
  if wave == 1 {
    gather_to_lds %a
  }
}
