# A loop without an exit still goes round.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @no_exit waves=4 {
  shared %a : 1024
  br ^body
^body:
  write %a
  br ^body
}
