# Reads never conflict with each other, in whatever loop or order.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @reads_only waves=4 {
  shared %a : 1024
  read %a
  loop %i in 0..8 {
    read %a
    read %a
  }
}
# CHECK:      kernel @reads_only
# CHECK-NOT:    barrier
# CHECK:      }
