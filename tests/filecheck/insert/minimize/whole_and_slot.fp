# A view without a slot stands for all of them.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @whole_and_slot waves=4 {
  shared %a : 2 x 64
  write %a[1]
  read %a
}
# CHECK:        write %a[1]
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
