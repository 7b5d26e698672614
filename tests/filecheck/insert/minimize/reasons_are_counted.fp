# A barrier that covers many hazards names the two nearest and says that there are more.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @reasons_are_counted waves=4 {
  shared %a : 1024
  shared %b : 1024
  shared %c : 1024
  shared %d : 1024
  write %a
  write %b
  write %c
  read %d
  write %d
  read %a
  read %b
  read %c
}
# CHECK:        read %d
# CHECK-NEXT:   barrier  # read → write %d; write → read %a; and more
# CHECK-NEXT:   write %d
# CHECK-NEXT:   read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   read %c
# CHECK-NEXT: }
