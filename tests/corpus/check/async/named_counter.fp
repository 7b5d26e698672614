# A copy that says which counter it is on is not waited for on the usual one.
# EXPECT: race RAW 5 -> 8
kernel @named_counter waves=4 {
  shared %a : 1024
  gather_to_lds %a counter=async
  wait_count load=0
  barrier
  read %a
}
