# Each of two waves has a slot of its own.
# EXPECT: race RAW 6 -> 7
kernel @slices waves=4 {
  shared %d : 4 x 64
  if wave < 2 {
    gather_to_lds %d[wave]
    read %d[wave]
  }
}
