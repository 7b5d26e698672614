# Two groups ahead in a ring of three.
# EXPECT: clean
kernel @pipeline waves=4 {
  shared %a : 3 x 512
  shared %b : 3 x 512
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  commit load
  gather_to_lds %a[1]
  gather_to_lds %b[1]
  commit load
  loop %i in 0..? {
    wait_count load=1
    barrier
    read %a[%i % 3]
    read %b[%i % 3]
    gather_to_lds %a[(%i + 2) % 3]
    gather_to_lds %b[(%i + 2) % 3]
    commit load
  }
}
