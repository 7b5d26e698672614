# A barrier that drains the copies is enough.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @async_copy_and_barrier_of_the_author waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier async  # mine
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier async  # mine
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
