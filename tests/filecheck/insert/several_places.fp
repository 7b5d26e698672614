# One operation reads two tiles, as a matrix product does. It is the second that was just written: the barrier stands
# in front of the operation, since nothing can be put inside.
# RUN: fencepost insert %s
kernel @product waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  read %a
  write %b
  %x = read %a, %b
  mma %x
}
# CHECK:      write %a
# CHECK-NEXT: barrier  # write → read %a
# CHECK-NEXT: read %a
# CHECK-NEXT: write %b
# CHECK-NEXT: barrier  # write → read %b
# CHECK-NEXT: %x = read %a, %b
# CHECK-NEXT: mma %x
