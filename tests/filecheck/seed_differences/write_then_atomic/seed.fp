# An atomic right behind a write joins the run of producers, so that only the read behind both gets a barrier.
# RUN: fencepost check %s
# EXIT: 1
kernel @write_then_atomic waves=4 {
  shared %a : 1024
  write %a
  atomic %a
  barrier
  read %a
}
# CHECK: error[FP001]: wave 1 can update %a before wave 0 has written it
# CHECK: --> seed.fp:6:3 and seed.fp:7:3
# CHECK: seed.fp: @write_then_atomic: 1 race
