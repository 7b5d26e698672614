# The last group may be in flight; the first has both copies that are read.
# EXPECT: clean
kernel @one_group_left waves=4 {
  shared %a : 3 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  commit load
  gather_to_lds %a[2]
  commit load
  wait_count load=1
  barrier
  read %a[0]
  read %a[1]
}
