# Before the first access and behind the last there is nothing to order.
# RUN: fencepost prune %s 2>&1
kernel @at_the_edges waves=4 {
  shared %a : 1024
  barrier
  write %a
  barrier  # needed
  read %a
  barrier
}
# CHECK:        shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   barrier  # needed
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CHECK:      2 barriers removed (lines 5, 9), 1 kept
