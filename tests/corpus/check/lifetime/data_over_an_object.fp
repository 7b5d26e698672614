# The tile lies where the object does, which is used again behind it.
# EXPECT: deadlock lifetime 8 10
kernel @data_over_an_object waves=2 {
  shared %o : 8 at 0
  shared %a : 64 at 0
  mbarrier_init %o count=2
  barrier
  write %a
  barrier
  mbarrier_arrive %o
}
