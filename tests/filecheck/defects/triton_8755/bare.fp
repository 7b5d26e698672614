# Without barriers: none goes in.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @halves waves=4 {
  shared %a : 128
  write %a[0..64]
  read %a[64..128]
}
# CHECK: @halves: no race, no deadlock
# SAME: @halves: 0 barriers inserted
