# A barrier that stands between the two is enough; no second one is put beside it.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @barrier_of_the_author waves=4 {
  shared %a : 1024
  write %a
  barrier  # mine
  compute
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # mine
# CHECK-NEXT:   compute
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
