# The engine will tell the object, and nobody has waited for that.
# EXPECT: race WAW 9 -> 12
kernel @ended_with_a_copy_under_way waves=2 {
  shared %a : 64
  shared %o : 8
  mbarrier_init %o count=1
  barrier
  if wave == 0 {
    tensor_load_to_lds %a arrives %o count=1
  }
  barrier
  mbarrier_inval %o
}
