# The write of one iteration and the read of the next: the barrier between read and write lies outside their window.
# RUN: fencepost check %s
# EXIT: 1
kernel @next_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    read %a
    barrier
    write %a
  }
}
# CHECK:      error[FP001]: wave 1 can read %a before wave 0 has written it
# CHECK:      read %a
# CHECK-NEXT: ^^^^^^^ wave 1 reads bytes 0..1024, in the next iteration
# CHECK:      = why: no barrier lies between them on the path 9 → 7
# CHECK-NEXT: = fix: a barrier before line 7
# CHECK:      next_iteration.fp: @next_iteration: 1 race
