# An operation never conflicts with its own instance, but with that of the next iteration it does.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @carried_to_itself waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # write → write %a, next iteration
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
