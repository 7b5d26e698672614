# A barrier between the reads and the refill.
# EXPECT: clean
kernel @refill_fixed waves=4 {
  shared %a : 1024
  gather_to_lds %a
  loop %i in 0..4 {
    wait_count load=0
    barrier
    %x = read %a
    compute %x
    barrier
    gather_to_lds %a
  }
}
