# Groups on one counter leave the others as they are.
# EXPECT: clean
kernel @other_counter waves=4 {
  shared %a : 512
  shared %b : 512
  tensor_load_to_lds %a
  tensor_load_to_lds %b
  commit load
  wait_count tensor=1
  barrier
  read %a
}
