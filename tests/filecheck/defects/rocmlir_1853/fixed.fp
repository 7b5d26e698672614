# A barrier on either side of the write.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @again waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier
    write %a
    barrier
    read %a
  }
}
# CHECK: @again: no race, no deadlock
# SAME: @again: 0 barriers inserted
