# A barrier in a loop that never runs.
# RUN: fencepost explain %s
kernel @redundant_never_executed waves=4 {
  shared %a : 128
  write %a
  loop %i in 0..0 {
    barrier
  }
}
# CHECK: redundant_never_executed.fp:7:5: redundant: it is never executed
