# The walk's rule puts a barrier between two atomics, which nothing needs; the other strategies do not.
# RUN: fencepost insert %s --target gfx942 --strategy walk
# RUN: fencepost insert %s --target gfx942 --strategy walk | fencepost prune - | filecheck %s --check-prefix=PRUNED
kernel @two_atomics waves=4 {
  shared %a : 1024
  atomic %a
  atomic %a
}
# CHECK:        atomic %a
# CHECK-NEXT:   barrier
# CHECK-NEXT:   atomic %a
# CHECK-NEXT: }
# PRUNED:       atomic %a
# PRUNED-NEXT:  atomic %a
# PRUNED-NEXT: }
