# A wait is all it takes.
# EXPECT: clean
kernel @copy_waited waves=1 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  read %a
}
