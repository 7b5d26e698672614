# The wave waits for the phase that its copy completes; a count would be one wait too many.
# EXPECT: clean
kernel @waited_for_by_its_mbarrier waves=4 {
  shared %a : 64
  shared %m : 8
  mbarrier_init %m count=1
  barrier
  if wave == 0 {
    mbarrier_expect %m bytes=64
    tensor_load_to_lds %a arrives %m bytes=64
    mbarrier_wait %m phase=0
    read %a
  }
}
