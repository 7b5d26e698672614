# One wait for both counters, one barrier.
# EXPECT: clean
kernel @two_counters_at_once waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  tensor_load_to_lds %b
  wait_count load=0 tensor=0
  barrier
  read %a
  read %b
}
