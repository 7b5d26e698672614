# The first wait can leave the second copy in flight.
# EXPECT: race RAW 8 -> 10
# EXPECT: race RAW 9 -> 11
kernel @two_copies waves=4 {
  shared %a : 64
  shared %b : 64
  if wave == 1 {
    gather_to_lds %a
    gather_to_lds %b
    read %a
    read %b
  }
}
