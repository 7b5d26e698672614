# What the engine is told behind the copy that arrives is not known to be done.
# EXPECT: race RAW 11 -> 14
kernel @arrives_before_the_other waves=2 {
  shared %a : 64
  shared %b : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    tensor_load_to_lds %b arrives %full count=1
    tensor_load_to_lds %a
  }
  mbarrier_wait %full phase=0
  read %a
  read %b
}
