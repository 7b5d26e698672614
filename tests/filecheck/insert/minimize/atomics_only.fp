# Two atomics do not race with each other, within an iteration or across.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @atomics_only waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    atomic %a
    atomic %a
  }
}
# CHECK:      kernel @atomics_only
# CHECK-NOT:    barrier
# CHECK:      }
