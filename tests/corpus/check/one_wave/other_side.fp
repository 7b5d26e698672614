# The other side is one wave.
# EXPECT: race RAW 8 -> 9
kernel @other_side waves=4 {
  shared %a : 64
  if wave != 2 {
    compute
  } else {
    gather_to_lds %a
    read %a
  }
}
