# Who takes part is asked twice, and need not be the same.
# EXPECT: race WAW 6 -> 9
kernel @unknown_waves_twice waves=4 {
  shared %a : 64
  if wave < ? {
    gather_to_lds %a
  }
  if wave < ? {
    gather_to_lds %a
  }
}
