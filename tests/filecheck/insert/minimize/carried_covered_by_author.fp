# A barrier at the end of the body lies in every window that crosses into the next iteration.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @carried_covered_by_author waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    read %a
    barrier  # mine
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:     barrier  # mine
# CHECK-NEXT:   }
# CHECK-NEXT: }
