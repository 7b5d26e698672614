# The first wave waits for its copy and meets the second one.
# EXPECT: clean
kernel @two_waves_fixed waves=2 {
  shared %a : 64
  if wave == 0 {
    gather_to_lds %a
    wait_count load=0
  }
  barrier
  if wave == 1 {
    gather_to_lds %a
  }
}
