# A prefetch into the other slot disturbs no read.
# EXPECT: clean
kernel @prefetch_other_slot waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  wait_count load=0
  barrier
  read %a[0]
  gather_to_lds %a[1]
}
