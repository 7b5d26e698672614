# The wait on both ways out.
# RUN: fencepost check %s
kernel @early_exit waves=4 {
  signal 1
  cond_br %done, ^out, ^work
^work:
  compute
  wait 1
  return
^out:
  wait 1
  return
}
# CHECK: @early_exit: no race, no deadlock
