# Two writes have the same type of access, so no barrier comes between them; only the read gets one.
# RUN: fencepost check %s
# EXIT: 1
kernel @write_after_write waves=4 {
  shared %a : 1024
  write %a
  write %a
  barrier
  read %a
}
# CHECK: error[FP001]: wave 1 can write %a before wave 0 has written it
# CHECK: --> seed.fp:6:3 and seed.fp:7:3
# CHECK: seed.fp: @write_after_write: 1 race
