# The engine is another agent, even for one wave.
# EXPECT: race RAW 5 -> 7
kernel @copy_in_flight waves=1 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  read %a
}
