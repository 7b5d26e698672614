# Each side of a conditional has its own first access, and gets its own barrier.
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @both_sides waves=4 {
  shared %a : 1024
  write %a
  if %c {
    read %a
  } else {
    compute
    read %a
  }
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   } else {
# CHECK-NEXT:     compute
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
