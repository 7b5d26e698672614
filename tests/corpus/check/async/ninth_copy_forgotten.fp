# Whoever tracks eight copies at most has forgotten the first of nine.
# EXPECT: race RAW 5 -> 16
kernel @ninth_copy_forgotten waves=4 {
  shared %a : 9 x 64
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  gather_to_lds %a[2]
  gather_to_lds %a[3]
  gather_to_lds %a[4]
  gather_to_lds %a[5]
  gather_to_lds %a[6]
  gather_to_lds %a[7]
  gather_to_lds %a[8]
  wait_count load=9
  barrier
  read %a[0]
}
