# A read whose result was used is complete.
# EXPECT: clean
kernel @read_used_before_copy waves=1 {
  shared %a : 1024
  %x = read %a
  compute %x
  gather_to_lds %a
}
