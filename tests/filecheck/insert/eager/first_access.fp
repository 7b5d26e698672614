# The barrier stands right before the first access that needs one, behind everything that does not.
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @first_access waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  compute
  read %b
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   compute
# CHECK-NEXT:   read %b
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
