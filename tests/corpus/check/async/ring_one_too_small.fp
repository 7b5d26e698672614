# Two ahead in a ring of two: the slot that is refilled is the one that is being read.
# EXPECT: race WAR 10 -> 11
kernel @ring_one_too_small waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  loop %i in 0..9 {
    wait_count load=1
    barrier
    read %a[%i % 2]
    gather_to_lds %a[(%i + 2) % 2]
  }
}
