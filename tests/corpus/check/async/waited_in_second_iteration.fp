# The first iteration waits behind its barrier; the barrier of the second tells the others.
# EXPECT: clean
kernel @waited_in_second_iteration waves=4 {
  shared %a : 64
  gather_to_lds %a
  loop %i in 0..2 {
    barrier
    wait_count load=0
  }
  read %a
}
