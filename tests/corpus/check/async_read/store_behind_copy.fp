# The other way round as well: nothing makes the engine finish the copy before it reads.
# EXPECT: race RAW 5 -> 6
kernel @store_behind_copy waves=1 {
  shared %a : 512
  tensor_load_to_lds %a
  tensor_store_from_lds %a
  wait_count tensor=0
}
