# Comments inside a kernel stay with what they stand beside; a new barrier goes above the lines of its consumer.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# This one stands outside of the kernel and belongs to the file.
kernel @comments_stay waves=4 {
  # the tile
  shared %a : 1024  # one kilobyte
  # fill it
  write %a  # from registers
  # and use it
  read %a
  # done
}
# CHECK-NOT:  outside
# CHECK:      kernel @comments_stay waves=4 {
# CHECK-NEXT:   # the tile
# CHECK-NEXT:   shared %a : 1024  # one kilobyte
# CHECK-NEXT:   # fill it
# CHECK-NEXT:   write %a  # from registers
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   # and use it
# CHECK-NEXT:   read %a
# CHECK-NEXT:   # done
# CHECK-NEXT: }
