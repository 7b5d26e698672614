# With a slot more, the multiplication that is pending reads another one.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @ring waves=4 {
  shared %s : 4 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  loop %i in 0..16 {
    wait_count load=1 mma=1
    barrier
    gather_to_lds %s[(%i + 2) % 4]
    async_mma %s[%i % 4]
  }
}
# CHECK: @ring: no race, no deadlock
# SAME: @ring: 0 barriers inserted
