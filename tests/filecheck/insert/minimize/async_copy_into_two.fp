# A tensor load fills two buffers at once; whoever reads either waits for it.
# RUN: fencepost insert %s --target gfx1250 --strategy minimize
# RUN: fencepost insert %s --target gfx1250 --strategy eager
# RUN: fencepost insert %s --target gfx1250 --strategy walk
kernel @async_copy_into_two waves=4 {
  shared %a : 1024
  shared %b : 1024
  tensor_load_to_lds %a, %b
  read %b
  read %a
}
# CHECK:        tensor_load_to_lds %a, %b
# CHECK-NEXT:   barrier tensor=0  # copy → read %b; copy → read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
