# The other wave may still wait for the old object, and finds the new one, for which nobody arrives.
# EXPECT: deadlock stuck 8
kernel @made_again_in_use waves=2 {
  shared %o : 8
  mbarrier_init %o count=2
  barrier
  mbarrier_arrive %o
  mbarrier_wait %o phase=0
  mbarrier_init %o count=2
}
