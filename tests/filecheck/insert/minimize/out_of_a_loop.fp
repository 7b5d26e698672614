# A hazard that leaves a loop is closed behind it.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @out_of_a_loop waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    read %a
  }
  write %a
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT:   barrier  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
