# The same with a wait and a barrier for each turn.
# EXPECT: clean
kernel @waves_take_turns_fixed waves=4 {
  shared %a : 64
  loop %i in 0..8 {
    if wave == %i % 4 {
      gather_to_lds %a
      wait_count load=0
    }
    barrier
  }
}
