# Windows are stabbed where they end: that of %b ends first and its barrier serves %a, that of %c opens later.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @right_endpoints waves=4 {
  shared %a : 1024
  shared %b : 1024
  shared %c : 1024
  write %a
  write %b
  read %b
  write %c
  read %a
  read %c
}
# CHECK:        write %a
# CHECK-NEXT:   write %b
# CHECK-NEXT:   barrier  # write → read %b; write → read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   write %c
# CHECK-NEXT:   read %a
# CHECK-NEXT:   barrier  # write → read %c
# CHECK-NEXT:   read %c
# CHECK-NEXT: }
