# The count was worked out for the other order of the two copies.
# EXPECT: race RAW 7 -> 10
kernel @count_stale_after_reordering waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %b
  gather_to_lds %a
  wait_count load=1
  barrier
  read %a
}
