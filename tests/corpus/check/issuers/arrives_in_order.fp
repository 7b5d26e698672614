# The engine works in order: when it arrives for the second copy, the first one is done.
# EXPECT: clean
kernel @arrives_in_order waves=2 {
  shared %a : 64
  shared %b : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    tensor_load_to_lds %a
    tensor_load_to_lds %b arrives %full count=1
  }
  mbarrier_wait %full phase=0
  read %a
  read %b
}
