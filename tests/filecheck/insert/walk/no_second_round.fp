# What is no loop is walked over once: behind a conditional nothing comes round again.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @no_second_round waves=4 {
  shared %a : 1024
  if %c {
    read %a
    compute
  }
}
# CHECK:      kernel @no_second_round
# CHECK-NOT:    barrier
# CHECK:      }
