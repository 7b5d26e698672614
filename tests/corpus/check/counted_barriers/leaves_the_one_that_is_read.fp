# The first copy is awaited, the second one is read.
# EXPECT: race RAW 6 -> 8
kernel @leaves_the_one_that_is_read waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  barrier load=1
  read %a[1]
}
