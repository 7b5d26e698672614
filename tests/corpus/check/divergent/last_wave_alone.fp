# One wave of 64 waits alone.
# EXPECT: deadlock stuck 5
kernel @last_wave_alone waves=64 {
  if wave == 63 {
    barrier
  }
}
