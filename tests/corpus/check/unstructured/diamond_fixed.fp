# Both ways have one.
# EXPECT: clean
kernel @diamond_fixed waves=4 {
  shared %a : 1024
  write %a
  cond_br %c, ^left, ^right
^left:
  barrier
  br ^join
^right:
  barrier
  br ^join
^join:
  read %a
  return
}
