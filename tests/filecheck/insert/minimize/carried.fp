# A write in iteration i and a read in iteration i+1 meet only across the back edge.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @carried waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    read %a
    write %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # write → read %a, next iteration
# CHECK-NEXT:     read %a
# CHECK-NEXT:     barrier  # read → write %a
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
