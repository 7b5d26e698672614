# A barrier on one side of a conditional does not cover the other side.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @barrier_in_one_branch waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier  # mine
  }
  read %a
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # mine
# CHECK-NEXT:   }
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
