# A wait has committed the copy: what is missing is a plain rendezvous.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @async_copy_waited_for waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  read %a
}
# CHECK:        wait_count load=0
# CHECK-NEXT:   barrier  # copy → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
