# Two copies in flight, three slots: the count leaves the younger one outstanding.
# EXPECT: clean
kernel @pipeline waves=4 {
  shared %a : 3 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  loop %i in 0..9 {
    wait_count load=1
    barrier
    read %a[%i % 3]
    gather_to_lds %a[(%i + 2) % 3]
  }
}
