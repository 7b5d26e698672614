# Two counters, no order.
# EXPECT: race RAW 10 -> 14
kernel @arrives_on_another_counter waves=2 {
  shared %a : 64
  shared %b : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    gather_to_lds %a
    tensor_load_to_lds %b arrives %full count=1
  }
  mbarrier_wait %full phase=0
  read %a
  read %b
}
