# Only wave 0 issues a second copy; for the others the count leaves the first one outstanding.
# EXPECT: race RAW 6 -> 12
kernel @count_right_for_one_wave waves=4 {
  shared %a : 64
  shared %b : 64
  gather_to_lds %a
  if wave == 0 {
    gather_to_lds %b
  }
  wait_count load=1
  barrier
  read %a
}
