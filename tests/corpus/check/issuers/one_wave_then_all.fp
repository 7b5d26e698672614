# The second copy is shared by all waves: the first one's engine does not know of the others' shares.
# EXPECT: race WAW 6 -> 8
kernel @one_wave_then_all waves=4 {
  shared %a : 64
  if wave == 0 {
    gather_to_lds %a
  }
  gather_to_lds %a
}
