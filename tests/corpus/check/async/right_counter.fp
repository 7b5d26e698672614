# The counter of the engine that copies.
# EXPECT: clean
kernel @right_counter waves=4 {
  shared %a : 1024
  tensor_load_to_lds %a
  wait_count tensor=0
  barrier
  read %a
}
