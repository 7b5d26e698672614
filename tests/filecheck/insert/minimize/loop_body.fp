# Filled and used up in every iteration: one barrier before the read, one before the next iteration's write.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @loop_body waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    read %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # read → write %a, next iteration
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
