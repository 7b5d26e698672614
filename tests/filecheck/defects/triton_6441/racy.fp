# Memory that one half of the waves gets as its own is still the same memory to all waves of that half.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=INSERT
# EXIT: 1
kernel @captured waves=8 {
  shared %a : 1024
  if wave < 4 {
    write %a
    read %a
  } else {
    compute
  }
}
# CHECK: error[FP001]: wave 1 can read %a before wave 0 has written it
# CHECK-NEXT: --> racy.fp:9:5 and racy.fp:10:5
# CHECK: @captured: 1 race
# INSERT: error[FP203]: no barrier can order these accesses: it would stand inside a divergent conditional
