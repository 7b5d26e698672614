# One multiplication in flight while the next slot but one is filled: three slots.
# EXPECT: clean
kernel @ring_of_three waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? {
    write %a[%i % 3]
    barrier
    async_mma %a[%i % 3]
    wait_count mma=1
  }
}
