# An engine reads what the wave has just written.
# EXPECT: race RAW 6 -> 7
kernel @write_and_store waves=4 {
  shared %a : 64
  if wave == 1 {
    write %a
    tensor_store_from_lds %a
  }
}
