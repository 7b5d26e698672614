# Copies stay in flight across a barrier; the wait promotes this one, so another barrier follows.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  wait_count load=0
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier
# CHECK-NEXT:   wait_count load=0
# CHECK-NEXT:   barrier  # copy → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
