# A write after a write is a hazard like the others.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @write_after_write waves=4 {
  shared %a : 1024
  write %a
  write %a
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
