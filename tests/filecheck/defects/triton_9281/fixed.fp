# The same with a barrier behind the set-up.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @object waves=4 {
  shared %bar : 2 x 8
  if wave == 0 {
    write %bar
  }
  barrier
  atomic %bar[0]
}
# CHECK: @object: no race, no deadlock
# SAME: @object: 0 barriers inserted
