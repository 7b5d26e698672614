# The engine overwrites bytes that another wave may still be writing.
# EXPECT: race WAW 5 -> 6
kernel @write_then_copy waves=4 {
  shared %a : 1024
  write %a
  gather_to_lds %a
}
