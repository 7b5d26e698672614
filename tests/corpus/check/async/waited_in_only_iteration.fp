# There is no second iteration to tell them.
# EXPECT: race RAW 5 -> 10
kernel @waited_in_only_iteration waves=4 {
  shared %a : 64
  gather_to_lds %a
  loop %i in 0..1 {
    barrier
    wait_count load=0
  }
  read %a
}
