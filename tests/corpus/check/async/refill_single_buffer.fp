# The refill may overtake the reads of other waves, and the next read does not wait for other waves' refills.
# EXPECT: race WAR 7 -> 8
# EXPECT: race RAW 8 -> 7 next-iteration
kernel @refill_single_buffer waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    read %a
    gather_to_lds %a
    wait_count load=0
  }
}
