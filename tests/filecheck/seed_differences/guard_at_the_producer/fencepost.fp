# A window that crosses into the next iteration needs a barrier behind its producer or before its consumer.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @guard_at_the_producer waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    read %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # read → write %a, next iteration
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CLEAN: no race, no deadlock
