# It waits for the wrong counter.
# EXPECT: race RAW 6 -> 10
kernel @one_wave_copies_wrong_wait waves=4 {
  shared %a : 64
  if wave == 0 {
    tensor_load_to_lds %a
  }
  wait_count load=0
  barrier
  read %a
}
