# The atomic reads what the write wrote: it is a consumer first, and a producer after.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @write_then_atomic waves=4 {
  shared %a : 1024
  write %a
  atomic %a
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → update %a
# CHECK-NEXT:   atomic %a
# CHECK-NEXT:   barrier  # update → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
