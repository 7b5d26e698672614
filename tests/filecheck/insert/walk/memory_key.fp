# The last owner is remembered for each allocation: a write of one is nothing to a read of another.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @memory_key waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  read %b
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
