# Two copies ahead, three slots: the barrier waits for the copy that is read next.
# EXPECT: clean
kernel @pipeline waves=4 {
  shared %a : 3 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  loop %i in 0..? {
    barrier load=1
    read %a[%i % 3]
    gather_to_lds %a[(%i + 2) % 3]
  }
}
