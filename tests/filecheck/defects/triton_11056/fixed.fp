# The same with a barrier behind the wait.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @groups waves=8 {
  shared %a : 4096
  shared %b : 4096
  loop %i in 0..8 {
    barrier load=0
    async_mma %a, %b
    wait_count mma=0
    barrier
    gather_to_lds %a
  }
}
# CHECK: @groups: no race, no deadlock
# SAME: @groups: 0 barriers inserted
