# Global reads on a counter of groups take no place of their own.
# EXPECT: race RAW 5 -> 10
kernel @loads_do_not_count waves=4 {
  shared %a : 512
  gather_to_lds %a
  commit load
  global_read
  wait_count load=1
  barrier
  read %a
}
