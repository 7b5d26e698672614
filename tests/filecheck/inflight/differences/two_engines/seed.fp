# Two copies, filtered out because a barrier cannot order them: two engines keep no order among each other.
# RUN: fencepost check %s
# EXIT: 1
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  tensor_load_to_lds %a
}
# CHECK: error[FP001]: wave 0 can start a copy into %a while its own copy into it is under way
# CHECK-NEXT: --> seed.fp:6:3 and seed.fp:7:3
# CHECK: @k: 1 race
