# The sides of a uniform conditional never run together: what one writes is no hazard to what the other reads.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @sides_of_a_conditional waves=4 {
  shared %a : 1024
  if %c {
    write %a
  } else {
    read %a
  }
}
# CHECK:        if %c {
# CHECK-NEXT:     write %a
# CHECK-NEXT:   } else {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
