# A fence.
# EXPECT: clean
kernel @write_fenced_before_copy waves=1 {
  shared %a : 1024
  write %a
  wait_count lds=0
  gather_to_lds %a
}
