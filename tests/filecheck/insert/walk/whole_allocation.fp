# The walk knows allocations, not bytes: two parts that share none get a barrier that prune takes out again.
# RUN: fencepost insert %s --target gfx942 --strategy walk
# RUN: fencepost insert %s --target gfx942 --strategy walk | fencepost prune - | filecheck %s --check-prefix=PRUNED
kernel @whole_allocation waves=4 {
  shared %a : 128
  write %a[0..64]
  read %a[64..128]
}
# CHECK:        write %a[0..64]
# CHECK-NEXT:   barrier
# CHECK-NEXT:   read %a[64..128]
# CHECK-NEXT: }
# PRUNED:       write %a[0..64]
# PRUNED-NEXT:  read %a[64..128]
# PRUNED-NEXT: }
