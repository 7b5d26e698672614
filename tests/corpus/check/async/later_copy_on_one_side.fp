# The count assumes a second copy that is not always there.
# EXPECT: race RAW 6 -> 12
kernel @later_copy_on_one_side waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  if %c {
    gather_to_lds %b
  }
  wait_count load=1
  barrier
  read %a
}
