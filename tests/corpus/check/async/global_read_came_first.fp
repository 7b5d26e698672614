# The other way round the copy is the later one.
# EXPECT: race RAW 6 -> 9
kernel @global_read_came_first waves=4 {
  shared %a : 1024
  global_read
  gather_to_lds %a
  wait_count load=1
  barrier
  read %a
}
