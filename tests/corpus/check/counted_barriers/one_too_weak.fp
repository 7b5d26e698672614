# The barrier leaves one copy in flight, and there is only one.
# EXPECT: race RAW 5 -> 7
kernel @one_too_weak waves=4 {
  shared %a : 512
  gather_to_lds %a
  barrier load=1
  read %a
}
