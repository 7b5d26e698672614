# The load came first, so the wait is for the load.
# EXPECT: race WAR 7 -> 10
kernel @shares_a_counter_wrong_way waves=4 {
  shared %a : 512
  shared %b : 512
  tensor_load_to_lds %b
  tensor_store_from_lds %a
  wait_count tensor=1
  barrier
  write %a
}
