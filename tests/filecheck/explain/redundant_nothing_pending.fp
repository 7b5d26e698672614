# No access lies in front of the barrier at all.
# RUN: fencepost explain %s
kernel @redundant_nothing_pending waves=4 {
  shared %a : 128
  compute
  barrier
  read %a
}
# CHECK: redundant_nothing_pending.fp:6:3: redundant:
