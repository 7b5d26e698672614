# A single wave needs no rendezvous: its own operations on LDS are in order.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @single_wave waves=1 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    read %a
    atomic %a
  }
}
# CHECK:      kernel @single_wave
# CHECK-NOT:    barrier
# CHECK:      }
