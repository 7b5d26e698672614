# The load that was issued later is the one that may be outstanding.
# EXPECT: clean
kernel @global_read_counts_too waves=4 {
  shared %a : 1024
  gather_to_lds %a
  global_read
  wait_count load=1
  barrier
  read %a
}
