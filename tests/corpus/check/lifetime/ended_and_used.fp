# An object is used that was ended before.
# EXPECT: deadlock lifetime 8 11
kernel @ended_and_used waves=2 {
  shared %o : 8
  mbarrier_init %o count=2
  barrier
  if wave == 0 {
    mbarrier_inval %o
  }
  barrier
  mbarrier_arrive %o
}
