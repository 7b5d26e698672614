# What is pending at a loop's end is pending at its start again.
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @through_the_back_edge waves=4 {
  shared %a : 1024
  shared %b : 1024
  loop %i in 0..8 {
    read %a
    write %b
    barrier  # mine
    read %b
    write %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # write → read %a, next iteration; read → write %b, next iteration
# CHECK-NEXT:     read %a
# CHECK-NEXT:     write %b
# CHECK-NEXT:     barrier  # mine
# CHECK-NEXT:     read %b
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
