# The same with a loop: the last eight copies may be outstanding, and slot 1 is the first of them.
# Between that copy and the read the loop goes round, hence the distance.
# EXPECT: race RAW 7 -> 12
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
