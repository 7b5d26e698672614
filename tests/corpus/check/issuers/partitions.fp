# Two partitions with a copy each into one tile, and an mbarrier that only tells that both are done.
# EXPECT: race WAW 9 -> 12
kernel @partitions waves=3 {
  shared %a : 64
  shared %done : 8
  mbarrier_init %done count=2
  barrier
  if wave == 0 {
    tensor_load_to_lds %a arrives %done count=1
  }
  if wave == 1 {
    tensor_load_to_lds %a arrives %done count=1
  }
  if wave == 2 {
    mbarrier_wait %done phase=0
    read %a
  }
}
