# A workgroup barrier has no fence: the waves meet, but the write need not be complete. It gets a fence.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @workgroup_barrier waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
