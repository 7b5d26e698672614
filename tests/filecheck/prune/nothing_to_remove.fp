# Barriers that a hazard needs stay, with their comments.
# RUN: fencepost prune %s 2>&1
kernel @nothing_to_remove waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier  # before the refill
    write %a
    barrier  # before the use
    read %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # before the refill
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier  # before the use
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK:      @nothing_to_remove: 0 barriers removed, 2 kept
