# The same with a barrier in front of each exchange.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @broadcast waves=4 {
  shared %s : 64
  gather_to_lds %s
  wait_count load=0
  loop %i in 0..8 {
    barrier
    exchange %s
  }
}
# CHECK: @broadcast: no race, no deadlock
# SAME: @broadcast: 0 barriers inserted
