# The same in a loop: the next signal finds the one before it still raised.
# RUN: fencepost check --all %s
# EXIT: 1
kernel @early_exit waves=4 {
  loop %i in 0..4 {
    signal 1
    if %more {
      wait 1
    }
  }
}
# CHECK: error[FP003]: barrier 1 is signalled twice before it is waited for
# CHECK-NEXT: --> in_a_loop.fp:6:5
# CHECK: error[FP003]: the kernel ends with barrier 1 signalled and not waited for
# CHECK: @early_exit: 2 deadlocks
