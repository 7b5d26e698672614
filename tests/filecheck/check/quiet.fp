# With --quiet, a clean kernel is passed over and the racy one still shown.
# RUN: fencepost check --quiet %s
# EXIT: 1
kernel @clean waves=4 {
  shared %a : 1024
  read %a
}
kernel @racy waves=4 {
  shared %a : 1024
  write %a
  write %a
}
# CHECK-NOT: @clean
# CHECK:     error[FP001]: wave 1 can write %a before wave 0 has written it
# CHECK:     quiet.fp: @racy: 1 race
