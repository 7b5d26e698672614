# A new object at the same bytes, when everybody is done with the old one: its phases begin anew.
# EXPECT: clean
kernel @made_again waves=2 {
  shared %o : 8
  loop %i in 0..3 {
    mbarrier_init %o count=2
    barrier
    mbarrier_arrive %o
    mbarrier_wait %o phase=0
    barrier
  }
}
