# On NVIDIA the bytes are the object's until it is invalidated.
# EXPECT: deadlock lifetime 6 11
kernel @data_before_inval waves=2 {
  shared %o : 8 at 0
  shared %a : 64 at 0
  mbarrier_init %o count=2 until=inval
  barrier
  mbarrier_arrive %o
  mbarrier_wait %o phase=0
  barrier
  gather_to_lds %a
}
