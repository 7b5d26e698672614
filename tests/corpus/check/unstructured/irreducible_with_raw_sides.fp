# One of the sides does not fence its reads.
# EXPECT: race WAR 11 -> 7 next-iteration
kernel @irreducible_with_raw_sides waves=4 {
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
    workgroup_barrier
  }
  cond_br %d, ^x, ^exit
^exit:
  return
}
