# Alone, a wave needs a fence and no rendezvous.
# EXPECT: clean
kernel @written_and_fenced waves=1 {
  shared %a : 512
  write %a
  wait_count lds=0
  tensor_store_from_lds %a
  wait_count tensor=0
  write %a
}
