# The first engine is waited for.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  tensor_load_to_lds %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # copy → copy %a
# CHECK-NEXT:   tensor_load_to_lds %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
