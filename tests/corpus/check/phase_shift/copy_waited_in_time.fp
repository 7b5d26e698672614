# Waited for before the first of the two barriers.
# EXPECT: clean
kernel @copy_waited_in_time waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..3 {
    gather_to_lds %a
    wait_count load=0
    barrier
    barrier
    read %a
    barrier
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
