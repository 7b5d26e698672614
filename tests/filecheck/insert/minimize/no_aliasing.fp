# Neighbours share no byte, and an allocation without an address shares bytes with nothing.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @no_aliasing waves=4 {
  shared %a : 64 at 0
  shared %b : 64 at 64
  shared %c : 64
  write %a
  read %b
  read %c
}
# CHECK:      kernel @no_aliasing
# CHECK-NOT:    barrier
# CHECK:      }
