# Two buffers, but one operation: leaving one outstanding completes the load before it.
# EXPECT: clean
kernel @tensor_load_counts_once waves=4 {
  shared %a : 1024
  shared %b : 1024
  shared %c : 1024
  tensor_load_to_lds %c
  tensor_load_to_lds %a, %b
  wait_count tensor=1
  barrier
  read %c
}
