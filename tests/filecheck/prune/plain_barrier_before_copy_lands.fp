# A barrier that meets a copy still in flight orders nothing; the one behind the wait does, and stays.
# RUN: fencepost prune %s
kernel @plain_barrier_before_copy_lands waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier  # too early
  wait_count load=0
  barrier  # in time
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   wait_count load=0
# CHECK-NEXT:   barrier  # in time
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
