# A signal whose wait an early exit leaves out.
# RUN: fencepost check %s
# EXIT: 1
kernel @early_exit waves=4 {
  signal 1
  cond_br %done, ^out, ^work
^work:
  compute
  wait 1
  return
^out:
  return
}
# CHECK: error[FP003]: the kernel ends with barrier 1 signalled and not waited for
# CHECK-NEXT: --> hang.fp:5:3
# CHECK: @early_exit: 1 deadlock
