# Blocks instead of a conditional: one of the two ways has no barrier.
# EXPECT: race RAW 5 -> 13
kernel @diamond waves=4 {
  shared %a : 1024
  write %a
  cond_br %c, ^left, ^right
^left:
  barrier
  br ^join
^right:
  br ^join
^join:
  read %a
  return
}
