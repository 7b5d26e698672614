# One byte in common is enough for a hazard.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @overlapping_ranges waves=4 {
  shared %a : 128
  write %a[0..65]
  read %a[64..128]
}
# CHECK:        write %a[0..65]
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a[64..128]
# CHECK-NEXT: }
