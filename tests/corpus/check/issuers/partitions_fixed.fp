# The second partition waits until the first one's copy is done.
# EXPECT: clean
kernel @partitions_fixed waves=3 {
  shared %a : 64
  shared %first : 8
  shared %done : 8
  mbarrier_init %first count=1
  mbarrier_init %done count=1
  barrier
  if wave == 0 {
    tensor_load_to_lds %a arrives %first count=1
  }
  if wave == 1 {
    mbarrier_wait %first phase=0
    tensor_load_to_lds %a arrives %done count=1
  }
  if wave == 2 {
    mbarrier_wait %done phase=0
    read %a
  }
}
