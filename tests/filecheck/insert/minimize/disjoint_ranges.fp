# Two parts of one allocation that have no byte in common need no barrier.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @disjoint_ranges waves=4 {
  shared %a : 128
  write %a[0..64]
  read %a[64..128]
}
# CHECK:        write %a[0..64]
# CHECK-NEXT:   read %a[64..128]
# CHECK-NEXT: }
