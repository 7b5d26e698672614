# The conditional ends in between, so that all waves come to the barrier.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @some waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
  }
  barrier
  if wave < 2 {
    read %a
  }
}
# CHECK: @some: no race, no deadlock
# SAME: @some: 0 barriers inserted
