# What the waves wrote is there for every engine after a barrier.
# EXPECT: clean
kernel @written_in_time waves=4 {
  shared %a : 512
  write %a
  barrier
  tensor_store_from_lds %a
}
