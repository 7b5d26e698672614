# Order is kept for the copies of one wave: the other one's may take longer.
# EXPECT: race RAW 11 -> 17
kernel @arrives_for_another_wave waves=2 {
  shared %a : 64
  shared %b : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 1 {
    # issued first or last, nobody knows
    tensor_load_to_lds %a
  }
  if wave == 0 {
    tensor_load_to_lds %b arrives %full count=1
  }
  mbarrier_wait %full phase=0
  read %a
  read %b
}
