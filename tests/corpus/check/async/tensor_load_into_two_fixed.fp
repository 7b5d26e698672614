# One wait serves both buffers.
# EXPECT: clean
kernel @tensor_load_into_two_fixed waves=4 {
  shared %a : 1024
  shared %b : 1024
  tensor_load_to_lds %a, %b
  wait_count tensor=0
  barrier
  read %a
  read %b
}
