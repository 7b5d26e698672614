# What stands before the loop meets both entries; the barrier in ^x covers one of them.
# EXPECT: race RAW 5 -> 11
kernel @irreducible_before_the_loop waves=4 {
  shared %a : 1024
  write %a
  cond_br %c, ^x, ^y
^x:
  barrier
  br ^y
^y:
  read %a
  cond_br %d, ^x, ^exit
^exit:
  return
}
