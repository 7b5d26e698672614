# Not every wave comes by inside a divergent conditional, so the barrier goes in front of it.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @before_a_divergent_conditional waves=4 {
  shared %a : 1024
  write %a
  if wave < 2 {
    read %a
  }
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   if wave < 2 {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
