# Whoever takes part in the conditional shares both copies.
# EXPECT: clean
kernel @unknown_waves waves=4 {
  shared %a : 64
  if wave < ? {
    gather_to_lds %a
    gather_to_lds %a
  }
}
