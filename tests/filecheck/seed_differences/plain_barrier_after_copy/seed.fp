# A plain barrier between copy and read, taken as covering them: the copy may still be under way.
# RUN: fencepost check %s
# EXIT: 1
kernel @plain_barrier_after_copy waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  read %a
}
# CHECK: error[FP001]: wave 0 can read %a while its own copy into it is under way
# CHECK: --> seed.fp:6:3 and seed.fp:8:3
# CHECK: seed.fp: @plain_barrier_after_copy: {{[12]}} race
