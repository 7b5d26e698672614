# Two copies of one engine stay in order; a barrier between them could not help.
# EXPECT: clean
kernel @one_engine_keeps_order waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    gather_to_lds %a
    gather_to_lds %a
  }
}
