# One wave copies and reads: a wait inside the conditional is enough, and a barrier could not stand there.
# RUN: fencepost insert %s
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy intersect
kernel @wait_for_a_copy waves=4 {
  shared %a : 64
  shared %b : 64
  if wave == 1 {
    gather_to_lds %a
    gather_to_lds %b
    read %a
  }
}
# CHECK:          gather_to_lds %b
# CHECK-NEXT:     wait_count load=1  # copy → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
