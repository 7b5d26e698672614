# Of two barriers that cover the same hazard, the one inside the loop goes.
# RUN: fencepost prune %s
kernel @expensive_first waves=4 {
  shared %a : 1024
  write %a
  barrier  # once
  loop %i in 0..8 {
    barrier  # in every iteration
    read %a
  }
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # once
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
