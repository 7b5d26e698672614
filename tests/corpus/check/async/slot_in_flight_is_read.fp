# Three ahead in a ring of three is no distance at all.
# EXPECT: race RAW 6 -> 7
kernel @slot_in_flight_is_read waves=4 {
  shared %a : 3 x 512
  loop %i in 0..9 {
    gather_to_lds %a[(%i + 3) % 3]
    read %a[%i % 3]
    wait_count load=0
    barrier
  }
}
