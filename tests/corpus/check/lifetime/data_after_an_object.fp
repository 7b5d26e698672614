# The tile lies where the object did, which nobody uses any more.
# EXPECT: clean
kernel @data_after_an_object waves=2 {
  shared %o : 8 at 0
  shared %a : 64 at 0
  mbarrier_init %o count=2
  barrier
  mbarrier_arrive %o
  mbarrier_wait %o phase=0
  barrier
  write %a
}
