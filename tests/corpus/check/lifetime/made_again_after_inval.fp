# The same with the invalidation in between.
# EXPECT: clean
kernel @made_again_after_inval waves=1 {
  shared %o : 8
  mbarrier_init %o count=1 until=inval
  mbarrier_inval %o
  mbarrier_init %o count=1 until=inval
}
