# One wave copies and waits for it; the barrier after that tells the others.
# EXPECT: clean
kernel @one_wave_copies_and_waits waves=2 {
  shared %a : 64
  if wave == 0 {
    gather_to_lds %a
    wait_count load=0
  }
  barrier
  read %a
}
