# With two slots the slot that is filled is the one that the engine may still read.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @ring_one_too_small waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? {
    write %a[%i % 2]
    barrier
    async_mma %a[%i % 2]
    wait_count mma=1
  }
}
