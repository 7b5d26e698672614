# A barrier completes the write everywhere.
# EXPECT: clean
kernel @write_then_copy_fixed waves=4 {
  shared %a : 1024
  write %a
  barrier
  gather_to_lds %a
}
