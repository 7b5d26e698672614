# Blocks and branches as a compiler lowers them: a loop that refills its memory too early.
kernel @blocks waves=4 {
  shared %a : 2048
  br ^body
^body:
  barrier  # filled
  %x = read %a
  write %a, %x
  cond_br %more, ^body, ^exit trip=16
^exit:
  barrier  # filled for the last time
  %last = read %a
  global_write %last
  return
}
