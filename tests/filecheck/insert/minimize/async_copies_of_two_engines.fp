# Two engines know nothing of each other.
# RUN: fencepost insert %s --target gfx1250 --strategy minimize
# RUN: fencepost insert %s --target gfx1250 --strategy eager
# RUN: fencepost insert %s --target gfx1250 --strategy walk
kernel @async_copies_of_two_engines waves=4 {
  shared %a : 1024
  gather_to_lds %a
  tensor_load_to_lds %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # copy → copy %a
# CHECK-NEXT:   tensor_load_to_lds %a
# CHECK-NEXT: }
