# The function returns with its copy under way; the caller's wait is for a later one.
# EXPECT: race RAW 5 -> 12
func @fetch {
  shared %s : 512 at 0
  gather_to_lds %s
}
kernel @copy_left_in_flight waves=4 {
  shared %a : 512 at 0
  call @fetch
  wait_count load=1
  barrier
  read %a
}
