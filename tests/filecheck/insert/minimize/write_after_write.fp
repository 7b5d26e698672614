# Two writes of the same bytes: without a barrier, which one stays is anybody's guess.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @write_after_write waves=4 {
  shared %a : 1024
  write %a
  write %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
