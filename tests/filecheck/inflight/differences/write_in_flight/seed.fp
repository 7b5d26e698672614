# A write behind a copy that nobody has waited for: a barrier would not help, but a wait does.
# RUN: fencepost check %s
# EXIT: 1
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  write %a
}
# CHECK: error[FP001]: wave 0 can write %a while its own copy into it is under way
# CHECK-NEXT: --> seed.fp:6:3 and seed.fp:7:3
# CHECK: @k: 1 race
