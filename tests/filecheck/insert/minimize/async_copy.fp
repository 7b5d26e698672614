# Nothing but a wait completes an async copy: its barrier waits for the counter first.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_copy waves=4 {
  shared %a : 1024
  gather_to_lds %a
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # copy → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
