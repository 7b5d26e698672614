# The wait comes after the rendezvous, so it tells the others nothing.
# EXPECT: race RAW 5 -> 8
kernel @wait_behind_the_barrier waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  wait_count load=0
  read %a
}
