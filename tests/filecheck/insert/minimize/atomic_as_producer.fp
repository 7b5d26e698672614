# What reads or overwrites after an atomic waits for it: here the atomic is the producer.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @atomic_as_producer waves=4 {
  shared %a : 1024
  shared %b : 1024
  atomic %a
  read %a
  atomic %b
  write %b
}
# CHECK:        atomic %a
# CHECK-NEXT:   barrier  # update → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   atomic %b
# CHECK-NEXT:   barrier  # update → write %b
# CHECK-NEXT:   write %b
# CHECK-NEXT: }
