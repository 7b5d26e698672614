# There is no other wave.
# EXPECT: race RAW 6 -> 7
kernel @kernel_of_one_wave waves=1 {
  shared %a : 64
  if wave < 2 {
    gather_to_lds %a
    read %a
  }
}
