# A barrier alone does not stop the engine.
# EXPECT: race WAW 5 -> 7
kernel @copy_then_write waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  write %a
}
