# The load that follows is the one that may be outstanding; the store is done.
# EXPECT: clean
kernel @shares_a_counter waves=4 {
  shared %a : 512
  shared %b : 512
  tensor_store_from_lds %a
  tensor_load_to_lds %b
  wait_count tensor=1
  barrier
  write %a
}
