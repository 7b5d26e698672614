# The frame moves whichever buffer the name stands for.
# EXPECT: race WAW 7 -> 14
func @turns {
  shared %a : 64 at 0
  shared %b : 64 at 64
  loop %i in 0..2 carry %u = %a, %v = %b {
    write %u
    next %v, %u
  }
}
kernel @in_a_frame waves=4 {
  shared %c : 64 at 192
  call @turns at 128
  write %c
}
