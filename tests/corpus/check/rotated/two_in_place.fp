# They do not change places.
# EXPECT: race WAR 9 -> 7 next-iteration
kernel @two_in_place waves=4 {
  shared %a : 512
  shared %b : 512
  loop %i in 0..? carry %u = %a, %v = %b {
    write %u
    barrier
    read %u
    next %u, %v
  }
}
