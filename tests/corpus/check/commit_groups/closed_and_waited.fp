# Two copies, one group: waiting for the group is waiting for both.
# EXPECT: clean
kernel @closed_and_waited waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  commit load
  wait_count load=0
  barrier
  read %a
}
