# One engine keeps the order of its copies: a barrier between two of them does nothing.
# RUN: fencepost prune %s
kernel @copies_of_one_engine waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    gather_to_lds %a
    barrier
    gather_to_lds %a
  }
}
# CHECK:          gather_to_lds %a
# CHECK-NEXT:     gather_to_lds %a
# CHECK-NEXT:   }
