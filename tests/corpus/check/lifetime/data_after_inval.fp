# The same with the invalidation, and whoever copies knows of it.
# EXPECT: clean
kernel @data_after_inval waves=2 {
  shared %o : 8 at 0
  shared %a : 64 at 0
  mbarrier_init %o count=2 until=inval
  barrier
  mbarrier_arrive %o
  mbarrier_wait %o phase=0
  barrier
  mbarrier_inval %o
  barrier
  gather_to_lds %a
}
