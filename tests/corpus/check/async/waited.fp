# First the wait in the wave that issued it, then the rendezvous.
# EXPECT: clean
kernel @waited waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  barrier
  read %a
}
