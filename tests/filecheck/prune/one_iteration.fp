# With one iteration, the barrier that would guard the next one goes.
# RUN: fencepost prune %s
kernel @one_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..1 {
    write %a
    barrier  # before the use
    read %a
    barrier  # before the refill
  }
}
# CHECK:          write %a
# CHECK-NEXT:     barrier  # before the use
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
