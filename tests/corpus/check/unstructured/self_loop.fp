# A block that branches to itself is a loop.
# EXPECT: race WAR 9 -> 7 next-iteration
kernel @self_loop waves=4 {
  shared %a : 1024
  br ^body
^body:
  write %a
  barrier
  read %a
  cond_br %again, ^body, ^exit
^exit:
  return
}
