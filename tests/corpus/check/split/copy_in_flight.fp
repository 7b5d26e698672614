# A signal does not wait for the engine.
# EXPECT: race RAW 5 -> 9
kernel @copy_in_flight waves=4 {
  shared %a : 1024
  gather_to_lds %a
  signal 1
  wait_count load=0
  wait 1
  read %a
}
