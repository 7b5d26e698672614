# Used before the refill.
# EXPECT: clean
kernel @refill_loop_fixed waves=1 {
  shared %a : 1024
  loop %i in 0..4 {
    gather_to_lds %a
    wait_count load=0
    %x = read %a
    compute %x
  }
}
