# Counting copies, load=1 would cover the first one; counting groups, both are in the one that is left.
# EXPECT: race RAW 5 -> 10
kernel @counts_groups_not_copies waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  commit load
  wait_count load=1
  barrier
  read %a[0]
}
