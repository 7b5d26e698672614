# Hazards that no barrier covers are counted, and the way on is shown.
# RUN: fencepost explain %s 2>&1
kernel @uncovered waves=4 {
  shared %a : 128
  write %a
  read %a
}
# CHECK: uncovered.fp: @uncovered has no barriers
# CHECK: warning[FP301]: 1 hazard of @uncovered that no barrier covers
# CHECK: help: `fencepost check` tells which are real, `fencepost insert` covers them all
