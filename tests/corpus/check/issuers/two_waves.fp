# Copies that different waves issue have no order, though one counter counts both.
# EXPECT: race WAW 6 -> 9
kernel @two_waves waves=2 {
  shared %a : 64
  if wave == 0 {
    gather_to_lds %a
  }
  if wave == 1 {
    gather_to_lds %a
  }
}
