# A signal in front of the loop and a wait behind it order nothing inside.
# RUN: fencepost check %s
# EXIT: 1
kernel @pair_around_a_loop waves=4 {
  shared %a : 1024
  write %a
  signal
  loop %i in 0..8 {
    read %a
  }
  wait
}
# CHECK: wave 1 can read %a before wave 0 has written it
# CHECK: the barrier was signalled in between, but not waited for
