# With two left in flight the copy that is read next is one of them.
# EXPECT: race RAW 7 -> 11
# EXPECT: race RAW 8 -> 11
# EXPECT: race RAW 12 -> 11 next-iteration
kernel @pipeline_one_too_weak waves=4 {
  shared %a : 3 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  loop %i in 0..? {
    barrier load=2
    read %a[%i % 3]
    gather_to_lds %a[(%i + 2) % 3]
  }
}
