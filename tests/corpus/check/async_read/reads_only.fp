# Waves and engines may read the same bytes together.
# EXPECT: clean
kernel @reads_only waves=4 {
  shared %a : 512
  async_mma %a
  read %a
  tensor_store_from_lds %a
}
