# The walk leaves the loop with its reader as last owner: that the loop may run zero times it does not see.
# RUN: fencepost check %s
# EXIT: 1
kernel @skipped_loop waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..? {
    barrier
    read %a
  }
  read %a
}
# CHECK: error[FP001]: wave 1 can read %a before wave 0 has written it
# CHECK: --> seed.fp:6:3 and seed.fp:11:3
# CHECK: seed.fp: @skipped_loop: 1 race
