# Barriers on both sides of a conditional together do cover.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @barrier_in_both_branches waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier  # mine
  } else {
    compute
    barrier  # mine, too
  }
  read %a
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # mine
# CHECK-NEXT:   } else {
# CHECK-NEXT:     compute
# CHECK-NEXT:     barrier  # mine, too
# CHECK-NEXT:   }
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
