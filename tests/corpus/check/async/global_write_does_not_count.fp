# A store counts elsewhere: one load may be outstanding, and the copy is it.
# EXPECT: race RAW 5 -> 9
kernel @global_write_does_not_count waves=4 {
  shared %a : 1024
  gather_to_lds %a
  global_write
  wait_count load=1
  barrier
  read %a
}
