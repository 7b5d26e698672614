# The second is the one that is left.
# EXPECT: race RAW 7 -> 11
kernel @one_outstanding_is_the_second waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  gather_to_lds %b
  wait_count load=1
  barrier
  read %a
  read %b
}
