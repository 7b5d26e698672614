# Barriers that the inner loop needs anyway also cover what the outer loop carries.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @nested_loops_inner_hazards waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    loop %j in 0..8 {
      write %a
      read %a
    }
  }
}
# CHECK:        loop %i in 0..4 {
# CHECK-NEXT:     loop %j in 0..8 {
# CHECK-NEXT:       barrier  # read → write %a, next iteration
# CHECK-NEXT:       write %a
# CHECK-NEXT:       barrier  # write → read %a
# CHECK-NEXT:       read %a
# CHECK-NEXT:     }
# CHECK-NEXT:   }
# CHECK-NEXT: }
