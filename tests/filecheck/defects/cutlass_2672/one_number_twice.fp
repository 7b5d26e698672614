# Two pairs at the same time with one number: the second signal comes before the first wait.
# RUN: fencepost check %s
# EXIT: 1
kernel @many waves=4 {
  signal 1
  compute
  signal 1
  wait 1
  wait 1
}
# CHECK: error[FP003]: barrier 1 is signalled twice before it is waited for
# CHECK: @many:
