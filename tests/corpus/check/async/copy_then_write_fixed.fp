# Wait, then barrier.
# EXPECT: clean
kernel @copy_then_write_fixed waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  barrier
  write %a
}
