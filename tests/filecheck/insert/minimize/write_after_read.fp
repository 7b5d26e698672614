# The memory is reused: a fast wave must not overwrite what a slow one has yet to read.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @write_after_read waves=4 {
  shared %a : 1024
  read %a
  write %a
}
# CHECK:        read %a
# CHECK-NEXT:   barrier  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
