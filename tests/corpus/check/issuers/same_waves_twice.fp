# Both copies are acts of the same two waves: each engine keeps its wave's share of them in order.
# EXPECT: clean
kernel @same_waves_twice waves=4 {
  shared %a : 64
  if wave < 2 {
    gather_to_lds %a
  }
  if wave < 2 {
    gather_to_lds %a
  }
}
