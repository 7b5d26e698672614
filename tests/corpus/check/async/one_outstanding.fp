# Leaving one outstanding, the first of two copies is complete.
# EXPECT: clean
kernel @one_outstanding waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  gather_to_lds %b
  wait_count load=1
  barrier
  read %a
}
