# Two ahead is.
# EXPECT: clean
kernel @slot_in_flight_is_another waves=4 {
  shared %a : 3 x 512
  loop %i in 0..9 {
    gather_to_lds %a[(%i + 2) % 3]
    read %a[%i % 3]
    wait_count load=0
    barrier
  }
}
