# A barrier in a loop that may run zero times covers nothing behind the loop.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @loop_may_run_zero_times waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..? {
    barrier  # mine
  }
  read %a
}
# CHECK:        loop %i in 0..? {
# CHECK-NEXT:     barrier  # mine
# CHECK-NEXT:   }
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
