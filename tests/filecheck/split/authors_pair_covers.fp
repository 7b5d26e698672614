# A hazard that the author's pair covers gets nothing more, on any target.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
kernel @authors_pair_covers waves=4 {
  shared %a : 1024
  write %a
  signal
  compute
  wait
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   signal
# CHECK-NEXT:   compute
# CHECK-NEXT:   wait
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
