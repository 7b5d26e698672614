# The late wait without the shift.
# EXPECT: clean
kernel @copy_waited_late_in_step waves=4 {
  shared %a : 1024
  loop %i in 0..3 {
    gather_to_lds %a
    barrier
    wait_count load=0
    barrier
    read %a
    barrier
    barrier
  }
}
