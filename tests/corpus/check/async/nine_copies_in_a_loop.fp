# The same with a loop: nothing but the count decides.
# EXPECT: race RAW 6 -> 11
kernel @nine_copies_in_a_loop waves=4 {
  shared %a : 9 x 64
  loop %i in 0..9 {
    gather_to_lds %a[%i]
  }
  wait_count load=8
  barrier
  read %a[0]
  read %a[1]
}
