# Two conditions leave one wave.
# EXPECT: race RAW 7 -> 8
kernel @nested waves=4 {
  shared %a : 64
  if wave < 2 {
    if wave >= 1 {
      gather_to_lds %a
      read %a
    }
  }
}
