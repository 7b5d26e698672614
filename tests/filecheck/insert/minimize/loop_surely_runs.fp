# A barrier in a loop that surely runs covers what stands before and behind the loop.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @loop_surely_runs waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..4 {
    barrier  # mine
  }
  read %a
}
# CHECK:        loop %i in 0..4 {
# CHECK-NEXT:     barrier  # mine
# CHECK-NEXT:   }
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
