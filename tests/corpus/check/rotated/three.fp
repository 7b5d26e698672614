# Three stages: copies run two ahead, and the engine keeps their order.
# EXPECT: clean
kernel @three waves=4 {
  shared %a : 512
  shared %b : 512
  shared %c : 512
  gather_to_lds %a
  gather_to_lds %b
  loop %i in 0..? carry %u = %a, %v = %b, %w = %c {
    barrier load=1
    read %u
    gather_to_lds %w
    next %v, %w, %u
  }
}
