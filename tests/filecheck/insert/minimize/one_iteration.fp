# With a single iteration there is no next one: only the hazard within it counts.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @one_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..1 {
    write %a
    read %a
  }
}
# CHECK:        loop %i in 0..1 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
