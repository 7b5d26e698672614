# Nobody has told the other wave that the object has ended: that is a race.
# EXPECT: race WAW 11 -> 13
kernel @ended_and_waited_for waves=2 {
  shared %o : 8
  mbarrier_init %o count=1
  barrier
  if wave == 0 {
    mbarrier_arrive %o
  }
  if wave == 1 {
    mbarrier_wait %o phase=0
  } else {
    mbarrier_inval %o
  }
}
