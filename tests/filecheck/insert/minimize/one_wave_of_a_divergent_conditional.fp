# One wave writes and reads: its own order is enough.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @one_wave_of_a_divergent_conditional waves=4 {
  shared %a : 1024
  if wave == 3 {
    write %a
    read %a
  }
}
# CHECK:        if wave == 3 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
