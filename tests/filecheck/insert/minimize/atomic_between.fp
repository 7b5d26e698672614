# An atomic between a write and a read is consumer of the one and producer for the other: a barrier on each side.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @atomic_between waves=4 {
  shared %a : 1024
  write %a
  atomic %a
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → update %a
# CHECK-NEXT:   atomic %a
# CHECK-NEXT:   barrier  # update → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
