# Parts that share no byte.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @halves waves=4 {
  shared %a : 128
  write %a[0..64]
  barrier
  read %a[64..128]
}
# CHECK:        write %a[0..64]
# CHECK-NEXT:   read %a[64..128]
# CHECK-NEXT: }
# CHECK: @halves: 1 barrier removed (line 8), 0 kept
# CLEAN: no race, no deadlock
