# A barrier that only some waves come to.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=INSERT
# EXIT: 2
kernel @some waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    barrier
    read %a
  }
}
# CHECK: error[FP002]: wave 0 waits at a barrier that wave 2 never reaches
# CHECK-NEXT: --> hang.fp:10:5
# CHECK: @some: 1 deadlock
# INSERT: error[FP201]: barrier inside a divergent conditional
