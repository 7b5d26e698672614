# What never runs needs nothing.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @no_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..0 {
    write %a
    read %a
  }
}
# CHECK:        loop %i in 0..0 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
