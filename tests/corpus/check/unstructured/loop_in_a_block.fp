# A structured loop inside a block inside an unstructured loop.
# EXPECT: race RAW 11 -> 8 next-iteration
kernel @loop_in_a_block waves=4 {
  shared %a : 1024
  br ^body
^body:
  loop %i in 0..4 {
    read %a
  }
  barrier
  write %a
  cond_br %again, ^body, ^exit
^exit:
  return
}
