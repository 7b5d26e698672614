# A loop with two entries whose barriers stand on the two sides of a divergent conditional.
# EXPECT: clean
kernel @irreducible_with_sides waves=4 {
  shared %a : 64
  cond_br %c, ^x, ^y
^x:
  write %a
  barrier
  br ^y
^y:
  read %a
  if wave < 2 {
    barrier
  } else {
    barrier
  }
  cond_br %d, ^x, ^exit
^exit:
  return
}
