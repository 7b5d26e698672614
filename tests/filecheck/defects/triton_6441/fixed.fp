# All waves meet between the two accesses.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @captured waves=8 {
  shared %a : 1024
  if wave < 4 {
    write %a
  } else {
    compute
  }
  barrier
  if wave < 4 {
    read %a
  } else {
    compute
  }
}
# CHECK: @captured: no race, no deadlock
# SAME: @captured: 0 barriers inserted
