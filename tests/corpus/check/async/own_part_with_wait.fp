# A wave that reads only what it copied itself needs no barrier.
# EXPECT: clean
kernel @own_part_with_wait waves=4 {
  shared %a : 4 x 256
  gather_to_lds %a[wave]
  wait_count load=0
  read %a[wave]
}
