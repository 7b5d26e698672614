# The first must be complete in every wave before the second is issued in any.
# EXPECT: clean
kernel @two_engines_fixed waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  barrier
  tensor_load_to_lds %a
}
