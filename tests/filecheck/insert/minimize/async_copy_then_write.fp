# A write after a copy in flight: a plain barrier could not help, one that waits does.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_copy_then_write waves=4 {
  shared %a : 1024
  gather_to_lds %a
  write %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # copy → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
