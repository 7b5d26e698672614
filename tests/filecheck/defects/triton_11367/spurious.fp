# One engine keeps the order of its copies, whichever slots they go to.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @copies waves=4 {
  shared %a : 4 x 1024
  loop %i in 0..16 {
    gather_to_lds %a[%i % 4]
    barrier
    gather_to_lds %a[?]
    barrier
  }
}
# CHECK:        loop %i in 0..16 {
# CHECK-NEXT:     gather_to_lds %a[%i % 4]
# CHECK-NEXT:     gather_to_lds %a[?]
# CHECK-NEXT:   }
# CHECK: @copies: 2 barriers removed (lines 9, 11), 0 kept
# CLEAN: no race, no deadlock
