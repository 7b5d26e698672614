# Nine copies, eight may be outstanding: the first is complete.
# EXPECT: clean
kernel @nine_copies waves=4 {
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
  wait_count load=8
  barrier
  read %a[0]
}
