# Two ways round the loop, a `continue` among them; only the long one has the barrier.
# EXPECT: race WAR 9 -> 7 next-iteration
kernel @two_back_edges waves=4 {
  shared %a : 1024
  br ^body
^body:
  write %a
  barrier
  read %a
  cond_br %skip, ^body, ^rest
^rest:
  barrier
  cond_br %again, ^body, ^exit
^exit:
  return
}
