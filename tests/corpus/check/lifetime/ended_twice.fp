# What has ended is not there to be ended again.
# EXPECT: deadlock lifetime 8 9
kernel @ended_twice waves=2 {
  shared %o : 8
  mbarrier_init %o count=2
  barrier
  if wave == 0 {
    mbarrier_inval %o
    mbarrier_inval %o
  }
}
