# A wait behind the loop.
# EXPECT: clean
kernel @pipeline_tail_fixed waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  loop %i in 0..4 {
    wait_count load=0
    barrier
    read %a[%i % 2]
    gather_to_lds %a[(%i + 1) % 2]
  }
  wait_count load=0
  barrier
  read %a[0]
}
