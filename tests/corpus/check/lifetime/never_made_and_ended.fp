# There is nothing to end.
# EXPECT: deadlock stuck 5
kernel @never_made_and_ended waves=1 {
  shared %o : 8
  mbarrier_inval %o
}
