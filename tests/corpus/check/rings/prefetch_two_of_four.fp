# One more slot: the slot that is overwritten was read two iterations ago, before the last barrier.
# EXPECT: clean
kernel @prefetch_two_of_four waves=4 {
  shared %a : 4 x 512
  loop %i in 0..9 {
    write %a[(%i + 2) % 4]
    barrier
    read %a[%i % 4]
  }
}
