# Eight loads come after the copy, eight may be outstanding: the copy is not one of them.
# EXPECT: clean
kernel @loads_in_a_loop waves=4 {
  shared %a : 64
  gather_to_lds %a
  loop %i in 0..8 {
    global_read
  }
  wait_count load=8
  barrier
  read %a
}
