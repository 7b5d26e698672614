# One copy fills two buffers; it is one operation of its counter, and nobody waited for it.
# The read of the second buffer lies behind that of the first: whatever orders the first orders both.
# EXPECT: race RAW 7 -> 10
kernel @tensor_load_into_two waves=4 {
  shared %a : 1024
  shared %b : 1024
  tensor_load_to_lds %a, %b
  wait_count tensor=1
  barrier
  read %a
  read %b
}
