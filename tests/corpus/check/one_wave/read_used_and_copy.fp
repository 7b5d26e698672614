# The read is complete: its result has been used.
# EXPECT: clean
kernel @read_used_and_copy waves=4 {
  shared %a : 64
  if wave == 1 {
    %x = read %a
    compute %x
    gather_to_lds %a
  }
}
