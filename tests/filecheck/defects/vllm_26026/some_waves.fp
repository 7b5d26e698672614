# The exit is for some waves only, in front of the signal: the others wait for ever.
# RUN: fencepost check %s
# EXIT: 1
kernel @early_exit waves=4 {
  if wave < 2 {
    signal 1
    wait 1
  }
}
# CHECK: error[FP002]: wave 0 waits at a barrier that wave 2 never reaches
# CHECK-NEXT: --> some_waves.fp:7:5
# CHECK: @early_exit: 1 deadlock
