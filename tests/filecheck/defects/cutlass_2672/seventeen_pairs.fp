# Seventeen pairs at the same time, each in step: fine in itself, and more than the target has.
# RUN: fencepost check %s
# RUN: fencepost check %s --target gfx1250 | filecheck %s --check-prefix=TOO-MANY
# EXIT: 1
kernel @many waves=4 {
  signal 0
  signal 1
  signal 2
  signal 3
  signal 4
  signal 5
  signal 6
  signal 7
  signal 8
  signal 9
  signal 10
  signal 11
  signal 12
  signal 13
  signal 14
  signal 15
  signal 16
  compute
  wait 0
  wait 1
  wait 2
  wait 3
  wait 4
  wait 5
  wait 6
  wait 7
  wait 8
  wait 9
  wait 10
  wait 11
  wait 12
  wait 13
  wait 14
  wait 15
  wait 16
}
# CHECK: @many: no race, no deadlock
# TOO-MANY: error[FP003]: 17 named barriers, and the target has 16
