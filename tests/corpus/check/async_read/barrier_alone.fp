# A barrier without a wait leaves the engine reading.
# EXPECT: race WAR 5 -> 7
kernel @barrier_alone waves=4 {
  shared %a : 512
  async_mma %a
  barrier
  write %a
}
