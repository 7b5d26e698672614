# One engine keeps the order of its copies, not of a read and a copy: the tile may be overwritten before it is stored.
# EXPECT: race WAR 5 -> 6
kernel @copy_behind_store waves=1 {
  shared %a : 512
  tensor_store_from_lds %a
  tensor_load_to_lds %a
  wait_count tensor=0
}
