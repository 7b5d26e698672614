# Each wave knows of its own engine only: the wait needs a barrier behind it.
# EXPECT: race WAR 5 -> 7 waves 0,1
kernel @wait_alone waves=4 {
  shared %a : 512
  async_mma %a
  wait_count mma=0
  write %a
}
