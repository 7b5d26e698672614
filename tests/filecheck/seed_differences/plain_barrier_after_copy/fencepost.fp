# Only a wait completes a copy: the barrier is told to wait for it.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @plain_barrier_after_copy waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
