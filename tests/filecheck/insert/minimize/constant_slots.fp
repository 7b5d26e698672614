# Another slot of a multi-buffered allocation is other memory; the same slot is not.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @constant_slots waves=4 {
  shared %a : 2 x 64
  write %a[0]
  read %a[1]
  read %a[0]
}
# CHECK:        write %a[0]
# CHECK-NEXT:   read %a[1]
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a[0]
# CHECK-NEXT: }
