# The same barrier dropped: now the two waves race.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=INSERT
# EXIT: 1
kernel @some waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    read %a
  }
}
# CHECK: error[FP001]: wave 1 can read %a before wave 0 has written it
# CHECK-NEXT: --> racy.fp:9:5 and racy.fp:10:5
# CHECK: @some: 1 race
# INSERT: error[FP203]: no barrier can order these accesses: it would stand inside a divergent conditional
# INSERT: = help: end the conditional between the two, or let a single wave do both
