# A barrier that the walk has put in for one allocation lies between producer and consumer of the other as well.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @barrier_in_between waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  read %a
  read %b
}
# CHECK:        write %b
# CHECK-NEXT:   barrier  # write → read %a; write → read %b
# CHECK-NEXT:   read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT: }
