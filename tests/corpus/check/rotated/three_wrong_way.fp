# Turned the other way, what was just told to be copied is read next.
# EXPECT: race RAW 12 -> 11 next-iteration
kernel @three_wrong_way waves=4 {
  shared %a : 512
  shared %b : 512
  shared %c : 512
  gather_to_lds %a
  gather_to_lds %b
  loop %i in 0..? carry %u = %a, %v = %b, %w = %c {
    barrier load=1
    read %u
    gather_to_lds %w
    next %w, %u, %v
  }
}
