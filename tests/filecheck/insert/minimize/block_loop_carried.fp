# A hazard across the back edge of a loop made of blocks.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @block_loop_carried waves=4 {
  shared %a : 1024
  br ^head
^head:
  read %a
  write %a
  cond_br %c, ^head, ^exit
^exit:
  return
}
# CHECK:      ^head:
# CHECK-NEXT:   barrier  # write → read %a, next iteration
# CHECK-NEXT:   read %a
# CHECK-NEXT:   barrier  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT:   cond_br %c, ^head, ^exit
