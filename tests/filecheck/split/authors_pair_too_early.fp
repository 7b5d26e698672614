# The producer comes behind the author's signal: the hazard gets a barrier of its own, behind the author's wait.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @authors_pair_too_early waves=4 {
  shared %a : 1024
  signal
  write %a
  compute
  wait
  read %a
}
# CHECK:        signal
# CHECK-NEXT:   write %a
# CHECK-NEXT:   compute
# CHECK-NEXT:   wait
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
