# The loop needs a barrier before its read in any case, and that one serves the first iteration as well.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @into_a_loop_with_its_own waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..8 {
    read %a
    write %a
  }
}
# CHECK:        write %a
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:     barrier  # read → write %a
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
