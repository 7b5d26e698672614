# The barrier behind an async copy waits for it; the next one, with a plain read as last owner, need not.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_owner waves=4 {
  shared %a : 1024
  gather_to_lds %a
  read %a
  write %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # copy → read %a; copy → write %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   barrier  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
