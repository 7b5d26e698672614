# Only a wait completes a copy: a barrier that drains the counters is put in before the read.
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
# CHECK-NEXT:   barrier
# CHECK-NEXT:   barrier async  # copy → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
