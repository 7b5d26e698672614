# All waves end it, in one act.
# EXPECT: clean
kernel @ended_together waves=4 {
  shared %o : 8
  mbarrier_init %o count=4
  barrier
  mbarrier_inval %o
}
