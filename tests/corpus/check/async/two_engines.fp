# Copies of two engines do not.
# EXPECT: race WAW 5 -> 7
kernel @two_engines waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  tensor_load_to_lds %a
}
