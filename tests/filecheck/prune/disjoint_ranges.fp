# A barrier between accesses to different parts of an allocation orders nothing.
# RUN: fencepost prune %s
kernel @disjoint_ranges waves=4 {
  shared %a : 128
  write %a[0..64]
  barrier
  read %a[64..128]
}
# CHECK:        write %a[0..64]
# CHECK-NEXT:   read %a[64..128]
# CHECK-NEXT: }
