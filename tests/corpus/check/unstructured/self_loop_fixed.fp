# The second barrier stands on the back edge.
# EXPECT: clean
kernel @self_loop_fixed waves=4 {
  shared %a : 1024
  br ^body
^body:
  write %a
  barrier
  read %a
  barrier
  cond_br %again, ^body, ^exit
^exit:
  return
}
