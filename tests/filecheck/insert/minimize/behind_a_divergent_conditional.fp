# One wave fills the memory for all: the barrier stands behind the conditional, where all waves meet it.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @behind_a_divergent_conditional waves=4 {
  shared %a : 1024
  if wave == 0 {
    write %a
  }
  read %a
}
# CHECK:        if wave == 0 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
