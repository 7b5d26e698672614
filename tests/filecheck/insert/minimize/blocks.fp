# Blocks and branches instead of regions: a barrier covers the path that it stands on, and no other.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @blocks waves=4 {
  shared %a : 1024
  write %a
  cond_br %c, ^reads, ^skips
^reads:
  read %a
  br ^join
^skips:
  br ^join
^join:
  write %a
  return
}
# CHECK:        write %a
# CHECK-NEXT:   cond_br %c, ^reads, ^skips
# CHECK-NEXT: ^reads:
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   br ^join
# CHECK-NEXT: ^skips:
# CHECK-NEXT:   br ^join
# CHECK-NEXT: ^join:
# CHECK-NEXT:   barrier  # {{.*}}read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT:   return
# CHECK-NEXT: }
