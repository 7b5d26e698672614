# Every wave has waited for its data and used it; other waves have not, and the refill is too early for them.
# EXPECT: race WAR 9 -> 11
kernel @refill_after_waited_read waves=4 {
  shared %a : 1024
  gather_to_lds %a
  loop %i in 0..4 {
    wait_count load=0
    barrier
    %x = read %a
    compute %x
    gather_to_lds %a
  }
}
