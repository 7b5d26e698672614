# A plain barrier between an async copy and its reader is not enough: it is told to wait.
# RUN: fencepost insert %s --target gfx942 --strategy walk
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @async_owner_behind_plain_barrier waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier  # mine
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # mine
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
