# One wave has the tensor engine copy for all, and waits for it before it meets the others.
# EXPECT: clean
kernel @one_wave_copies waves=4 {
  shared %a : 64
  if wave == 0 {
    tensor_load_to_lds %a
    wait_count tensor=0
  }
  barrier
  read %a
}
