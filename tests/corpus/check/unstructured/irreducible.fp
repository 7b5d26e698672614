# A loop entered at two places. On the way from ^x to ^y there is no barrier, on the way back there is.
# EXPECT: race RAW 7 -> 10
kernel @irreducible waves=4 {
  shared %a : 1024
  cond_br %c, ^x, ^y
^x:
  write %a
  br ^y
^y:
  read %a
  barrier
  cond_br %d, ^x, ^exit
^exit:
  return
}
