# A read behind a copy that nobody has waited for, taken as no hazard: it sees the old bytes or the new ones.
# RUN: fencepost check %s
# EXIT: 1
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  read %a
}
# CHECK: error[FP001]: wave 0 can read %a while its own copy into it is under way
# CHECK-NEXT: --> seed.fp:6:3 and seed.fp:7:3
# CHECK: @k: 1 race
