# Bytes say that their own copy has come, and nothing of the one before it.
# EXPECT: race RAW 11 -> 15
kernel @bytes_tell_of_their_own_copy waves=2 {
  shared %a : 64
  shared %b : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    mbarrier_expect %full bytes=64
    tensor_load_to_lds %a
    tensor_load_to_lds %b arrives %full bytes=64
  }
  mbarrier_wait %full phase=0
  read %a
  read %b
}
