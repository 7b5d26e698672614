# One engine keeps the order of its copies; a barrier could not help.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_copies_of_one_engine waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    gather_to_lds %a
    gather_to_lds %a
  }
}
# CHECK:      kernel @async_copies_of_one_engine
# CHECK-NOT:    barrier
# CHECK:      }
