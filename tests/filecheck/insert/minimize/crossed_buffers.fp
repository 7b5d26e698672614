# Four windows, two of them carried: each of the two barriers covers one window of either buffer.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @crossed_buffers waves=4 {
  shared %a : 1024
  shared %b : 1024
  loop %i in 0..8 {
    write %a
    read %b
    write %b
    read %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # read → write %a, next iteration; write → read %b, next iteration
# CHECK-NEXT:     write %a
# CHECK-NEXT:     read %b
# CHECK-NEXT:     barrier  # read → write %b; write → read %a
# CHECK-NEXT:     write %b
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
