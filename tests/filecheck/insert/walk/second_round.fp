# The second round over a loop's body is the next iteration: only there does the read of %a have a producer.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @second_round waves=4 {
  shared %a : 1024
  shared %b : 1024
  loop %i in 0..8 {
    read %a
    compute
    write %b
    read %b
    write %a
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # write → read %a, next iteration; read → write %b, next iteration
# CHECK-NEXT:     read %a
# CHECK-NEXT:     compute
# CHECK-NEXT:     write %b
# CHECK-NEXT:     barrier  # write → read %b; read → write %a
# CHECK-NEXT:     read %b
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
