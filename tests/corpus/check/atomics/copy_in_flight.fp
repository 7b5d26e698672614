# The engine may still be filling the counters.
# EXPECT: race RAW 5 -> 7
kernel @copy_in_flight waves=4 {
  shared %a : 64
  gather_to_lds %a
  barrier
  atomic %a
}
