# A barrier that drains the copies is both in one.
# EXPECT: clean
kernel @barrier_async waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier async
  read %a
}
