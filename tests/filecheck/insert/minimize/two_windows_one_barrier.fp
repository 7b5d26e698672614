# Two windows overlap: one barrier at the end of the first to end covers both.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @two_windows_one_barrier waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  read %b
  read %a
}
# CHECK:        write %b
# CHECK-NEXT:   barrier  # write → read %b; write → read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
