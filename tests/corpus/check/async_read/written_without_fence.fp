# Even in one wave the engine may read before what was written has arrived.
# EXPECT: race RAW 5 -> 6
kernel @written_without_fence waves=1 {
  shared %a : 512
  write %a
  tensor_store_from_lds %a
}
