# Two may be outstanding, and two are.
# EXPECT: race RAW 6 -> 10
kernel @count_one_too_large waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  gather_to_lds %b
  wait_count load=2
  barrier
  read %a
}
