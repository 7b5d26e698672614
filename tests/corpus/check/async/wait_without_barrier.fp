# Each wave has waited for its own part only.
# EXPECT: race RAW 5 -> 7
kernel @wait_without_barrier waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  read %a
}
