# The next refill may overtake the read of this iteration.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @refill_loop waves=1 {
  shared %a : 1024
  loop %i in 0..4 {
    gather_to_lds %a
    wait_count load=0
    read %a
  }
}
