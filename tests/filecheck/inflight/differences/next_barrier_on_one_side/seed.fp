# The copy is handed to the next barrier of the program, which not every path comes by.
# RUN: fencepost check %s
# EXIT: 1
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  if %c {
    barrier load=0
    read %a
  }
  barrier
  read %a
}
# CHECK: error[FP001]: wave 0 can read %a while its own copy into it is under way
# CHECK-NEXT: --> seed.fp:6:3 and seed.fp:12:3
# CHECK: @k: 1 race
