# Barriers in front of the producer or behind the consumer lie outside of the window and do not count.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @barrier_outside_the_window waves=4 {
  shared %a : 1024
  barrier  # too early
  write %a
  read %a
  barrier  # too late
}
# CHECK:        barrier  # too early
# CHECK-NEXT:   write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   barrier  # too late
# CHECK-NEXT: }
