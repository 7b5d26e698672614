# Both are ordered.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @both waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier
    read %a
    barrier
    write %a
  }
}
# CHECK: @both: no race, no deadlock
# SAME: @both: 0 barriers inserted
