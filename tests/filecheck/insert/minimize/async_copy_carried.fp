# A single buffer refilled for the next iteration: the copy waits for the reads, the reads for the copy.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_copy_carried waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    read %a
    gather_to_lds %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier load=0  # copy → read %a, next iteration
# CHECK-NEXT:     read %a
# CHECK-NEXT:     barrier  # read → copy %a
# CHECK-NEXT:     gather_to_lds %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
