# Below 1 there is one wave.
# EXPECT: race RAW 6 -> 7
kernel @first_wave waves=4 {
  shared %a : 64
  if wave < 1 {
    gather_to_lds %a
    read %a
  }
}
