# Two allocations placed on common bytes are one memory under two names.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @aliasing waves=4 {
  shared %a : 64 at 0
  shared %b : 64 at 32
  write %a
  read %b
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a/%b
# CHECK-NEXT:   read %b
# CHECK-NEXT: }
