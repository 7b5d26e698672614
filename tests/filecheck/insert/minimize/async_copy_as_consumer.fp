# A refill must not overtake the reads or writes before it; nothing is in flight yet, so a plain barrier does.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_copy_as_consumer waves=4 {
  shared %a : 1024
  shared %b : 1024
  read %a
  gather_to_lds %a
  write %b
  gather_to_lds %b
}
# CHECK:        read %a
# CHECK-NEXT:   barrier  # read → copy %a
# CHECK-NEXT:   gather_to_lds %a
# CHECK-NEXT:   write %b
# CHECK-NEXT:   barrier  # write → copy %b
# CHECK-NEXT:   gather_to_lds %b
# CHECK-NEXT: }
