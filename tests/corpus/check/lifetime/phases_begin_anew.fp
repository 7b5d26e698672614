# The phase of the old object is waited for at the new one, which has not come so far.
# EXPECT: deadlock lifetime 6 9
# EXPECT: deadlock stuck 10
kernel @phases_begin_anew waves=1 {
  shared %o : 8
  mbarrier_init %o count=1 until=inval
  mbarrier_arrive %o
  mbarrier_wait %o phase=0
  mbarrier_init %o count=1 until=inval
  mbarrier_wait %o phase=0
}
