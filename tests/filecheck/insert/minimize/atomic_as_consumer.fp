# An atomic after a write or a read waits for it, like any consumer.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @atomic_as_consumer waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  atomic %a
  read %b
  atomic %b
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → update %a
# CHECK-NEXT:   atomic %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   barrier  # read → update %b
# CHECK-NEXT:   atomic %b
# CHECK-NEXT: }
