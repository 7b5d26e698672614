# What may be in flight is the copy into the other slot.
# EXPECT: clean
kernel @leaves_the_later_one waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  barrier load=1
  read %a[0]
}
