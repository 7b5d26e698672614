# A plain barrier does not wait for the copy: the engine may still be writing.
# EXPECT: race RAW 5 -> 7
kernel @nobody_waits waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  read %a
}
