# The first barrier publishes the copy; the second stands between a read of one slot and a prefetch into another.
# RUN: fencepost prune %s 2>&1
kernel @prefetch_into_another_slot waves=4 {
  shared %a : 2 x 1024
  gather_to_lds %a[0]
  wait_count load=0
  barrier  # publishes
  read %a[0]
  barrier  # spurious
  gather_to_lds %a[1]
}
# CHECK:        wait_count load=0
# CHECK-NEXT:   barrier  # publishes
# CHECK-NEXT:   read %a[0]
# CHECK-NEXT:   gather_to_lds %a[1]
# CHECK-NEXT: }
# CHECK:      1 barrier or wait removed (line 9), 2 kept
