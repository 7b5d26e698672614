# Everybody is done with the object when it ends.
# EXPECT: clean
kernel @ended_behind_a_barrier waves=2 {
  shared %o : 8
  mbarrier_init %o count=2
  barrier
  mbarrier_arrive %o
  mbarrier_wait %o phase=0
  barrier
  if wave == 0 {
    mbarrier_inval %o
  }
}
