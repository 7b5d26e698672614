# What is in no group is in flight all the same, so a barrier that drains waits for it.
# EXPECT: clean
kernel @drained waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  commit load
  gather_to_lds %a[1]
  barrier async
  read %a
}
