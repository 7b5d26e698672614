# One wave does both: it has to wait, and nobody else.
# EXPECT: race RAW 6 -> 7
kernel @copy_and_read waves=4 {
  shared %a : 64
  if wave == 1 {
    gather_to_lds %a
    read %a
  }
}
