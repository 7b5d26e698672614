# Barriers beside those that the user wrote: one of each two goes.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @beside waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    barrier
    barrier
    read %a
    barrier
    barrier
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier
# CHECK-NEXT:     read %a
# CHECK-NEXT:     barrier
# CHECK-NEXT:   }
# CHECK: @beside: 2 barriers removed (lines {{[0-9]+, [0-9]+}}), 2 kept
# CLEAN: no race, no deadlock
