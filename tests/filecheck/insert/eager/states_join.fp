# Behind a conditional counts what is pending on either side: one side has passed a barrier, the other has not.
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @states_join waves=4 {
  shared %a : 1024
  write %a
  if %c {
    read %a
  }
  read %a
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
