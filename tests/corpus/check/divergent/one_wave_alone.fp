# One wave writes and reads: its own operations are in order.
# EXPECT: clean
kernel @one_wave_alone waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    if wave == 0 {
      write %a
      read %a
    }
  }
}
