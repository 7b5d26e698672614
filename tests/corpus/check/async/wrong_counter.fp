# The tensor engine has its own counter.
# EXPECT: race RAW 5 -> 8
kernel @wrong_counter waves=4 {
  shared %a : 1024
  tensor_load_to_lds %a
  wait_count load=0
  barrier
  read %a
}
