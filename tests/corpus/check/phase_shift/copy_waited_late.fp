# The wait stands between the two barriers: in time in step, too late for the half that runs ahead.
# EXPECT: race RAW 9 -> 13
kernel @copy_waited_late waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..3 {
    gather_to_lds %a
    barrier
    wait_count load=0
    barrier
    read %a
    barrier
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
