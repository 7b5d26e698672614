# A barrier on each way.
# EXPECT: clean
kernel @irreducible_fixed waves=4 {
  shared %a : 1024
  cond_br %c, ^x, ^y
^x:
  write %a
  barrier
  br ^y
^y:
  read %a
  barrier
  cond_br %d, ^x, ^exit
^exit:
  return
}
