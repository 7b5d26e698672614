# The engine may still be reading.
# EXPECT: race WAR 6 -> 7
kernel @store_and_write waves=4 {
  shared %a : 64
  if wave == 1 {
    tensor_store_from_lds %a
    write %a
  }
}
