# The copy is told to arrive at an object that has ended.
# EXPECT: deadlock lifetime 8 11
kernel @engine_tells_what_has_ended waves=2 {
  shared %a : 64
  shared %o : 8
  mbarrier_init %o count=1
  barrier
  mbarrier_inval %o
  barrier
  if wave == 0 {
    tensor_load_to_lds %a arrives %o count=1
  }
}
