# What touches no shared memory is walked past.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @other_operations waves=4 {
  shared %a : 1024
  %g = global_read
  write %a, %g
  %x = compute %g
  mma %x
  global_write %x
}
# CHECK:      kernel @other_operations
# CHECK-NOT:    barrier
# CHECK:      }
