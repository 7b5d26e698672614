# In each iteration another wave copies.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @waves_take_turns waves=4 {
  shared %a : 64
  loop %i in 0..8 {
    if wave == %i % 4 {
      gather_to_lds %a
    }
  }
}
