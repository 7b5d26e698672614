# For a copy the wait is all that is needed before the rendezvous: a barrier without a fence will do.
# EXPECT: clean
kernel @raw_barrier_after_wait waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  workgroup_barrier
  read %a
}
