# A race: both operations, the path between them, and what would help.
# RUN: fencepost check %s
# EXIT: 1
kernel @race waves=4 {
  shared %a : 1024
  write %a
  compute
  read %a
}
# CHECK:      error[FP001]: wave 1 can read %a before wave 0 has written it
# CHECK-NEXT: --> race.fp:6:3 and race.fp:8:3
# CHECK:      write %a
# CHECK-NEXT: ^^^^^^^^ wave 0 writes bytes 0..1024
# CHECK-NEXT: read %a
# CHECK-NEXT: ^^^^^^^ wave 1 reads bytes 0..1024
# CHECK:      = why: no barrier lies between them on the path 6 → 7 → 8
# CHECK-NEXT: = fix: a barrier before line 8
# CHECK:      race.fp: @race: 1 race
