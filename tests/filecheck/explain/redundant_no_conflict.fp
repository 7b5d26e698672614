# Something is pending, but nothing behind the barrier conflicts with it.
# RUN: fencepost explain %s
kernel @redundant_no_conflict waves=4 {
  shared %a : 128
  write %a[0..64]
  barrier
  read %a[64..128]
}
# CHECK: redundant_no_conflict.fp:6:3: redundant:
