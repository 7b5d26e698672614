# The engine is waited for before the next slot is filled: even one slot would do.
# EXPECT: clean
kernel @two_stages waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? {
    write %a[%i % 2]
    barrier
    async_mma %a[%i % 2]
    wait_count mma=0
    barrier
  }
}
