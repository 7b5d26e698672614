# The walk meets the first side's barrier before it comes to the second side, where nothing seems to be missing.
# RUN: fencepost check %s
# EXIT: 1
kernel @other_branch waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier
    read %a
  } else {
    read %a
  }
}
# CHECK: error[FP001]: wave 1 can read %a before wave 0 has written it
# CHECK: --> seed.fp:6:3 and seed.fp:11:5
# CHECK: seed.fp: @other_branch: 1 race
