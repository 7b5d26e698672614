# Half of the waves run a phase behind, and nothing is left in flight.
# RUN: fencepost check %s
kernel @staggered waves=8 {
  shared %s : 4 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  wait_count load=0
  barrier
  if wave >= 4 {
    workgroup_barrier
  }
  loop %i in 0..16 {
    %x = read %s[%i % 4]
    gather_to_lds %s[(%i + 2) % 4]
    barrier
    mma %x
    wait_count load=0
    barrier
  }
  if wave < 4 {
    workgroup_barrier
  }
}
# CHECK: @staggered: no race, no deadlock
