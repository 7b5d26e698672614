# With a slot more, the copy fills another one, and the barrier behind the read is not needed.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @ring waves=4 {
  shared %x : 3 x 1024
  gather_to_lds %x[0]
  gather_to_lds %x[1]
  loop %i in 0..16 {
    wait_count load=1
    barrier
    read %x[%i % 3]
    gather_to_lds %x[(%i + 2) % 3]
    if %c {
      async_mma %x[%i % 3]
      wait_count mma=0
    }
  }
}
# CHECK: @ring: no race, no deadlock
# SAME: @ring: 0 barriers inserted
