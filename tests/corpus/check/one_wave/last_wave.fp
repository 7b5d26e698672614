# From 3 on there is one wave.
# EXPECT: race RAW 6 -> 7
kernel @last_wave waves=4 {
  shared %a : 64
  if wave >= 3 {
    gather_to_lds %a
    read %a
  }
}
