# Three slots, but the wait leaves two multiplications: the one before the last still reads.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @wait_one_too_weak waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? {
    write %a[%i % 3]
    barrier
    async_mma %a[%i % 3]
    wait_count mma=2
  }
}
