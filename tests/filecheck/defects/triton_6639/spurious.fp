# A copy into the slot that is not read needs no barrier.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @prefetch waves=4 {
  shared %a : 2 x 1024
  gather_to_lds %a[0]
  loop %i in 0..16 {
    wait_count load=0
    barrier
    read %a[%i % 2]
    barrier
    gather_to_lds %a[(%i + 1) % 2]
  }
}
# CHECK:        loop %i in 0..16 {
# CHECK-NEXT:     wait_count load=0
# CHECK-NEXT:     barrier
# CHECK-NEXT:     read %a[%i % 2]
# CHECK-NEXT:     gather_to_lds %a[(%i + 1) % 2]
# CHECK-NEXT:   }
# CHECK: @prefetch: 1 barrier or wait removed (line 12), 2 kept
# CLEAN: no race, no deadlock
