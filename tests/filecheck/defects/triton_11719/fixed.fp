# The same with the barrier in front of the refill.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @refill waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  barrier
  loop %i in 0..8 {
    %x = read %a
    barrier
    gather_to_lds %a
    mma %x
    wait_count load=0
    barrier
  }
}
# CHECK: @refill: no race, no deadlock
# SAME: @refill: 0 barriers inserted
