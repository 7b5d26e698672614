# A barrier that clears copies in flight as well leaves the wait nothing to promote.
# RUN: fencepost check %s
# EXIT: 1
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  wait_count load=0
  read %a
}
# CHECK: error[FP001]: wave 1 can read %a while wave 0's copy into it is under way
# CHECK-NEXT: --> seed.fp:6:3 and seed.fp:9:3
# CHECK: = why: the copy was waited for, but no barrier after that wait tells the other waves
# CHECK: @k: 1 race
