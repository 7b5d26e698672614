# The walk looks at barriers with a fence only, and keeps its positions.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @workgroup_barrier waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   workgroup_barrier
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
