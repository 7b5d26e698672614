# A barrier goes where the owner's way of access changes: before the first of two reads, before the write that follows.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @last_owner waves=4 {
  shared %a : 1024
  write %a
  read %a
  read %a
  write %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   barrier  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
