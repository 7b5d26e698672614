# A count waits for closed groups only; the second copy is in none.
# EXPECT: race RAW 7 -> 10
kernel @never_closed waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  commit load
  gather_to_lds %a[1]
  wait_count load=0
  barrier
  read %a
}
