# A barrier right before the read, taken as guarding the window that opens at this very read: the write of
# the next iteration overtakes it.
# RUN: fencepost check %s
# EXIT: 1
kernel @guard_at_the_producer waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    barrier
    read %a
  }
}
# CHECK: error[FP001]: wave 1 can write %a before wave 0 has read it
# CHECK: write %a
# CHECK-NEXT: wave 1 writes bytes 0..1024, in the next iteration
# CHECK: read %a
# CHECK-NEXT: wave 0 reads bytes 0..1024
# CHECK: seed.fp: @guard_at_the_producer: 1 race
