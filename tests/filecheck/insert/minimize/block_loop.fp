# A loop made of blocks is a loop: what enters it is closed in front of it.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @block_loop waves=4 {
  shared %a : 1024
  write %a
  br ^head
^head:
  read %a
  cond_br %c, ^head, ^exit trip=8
^exit:
  return
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   br ^head
# CHECK-NEXT: ^head:
# CHECK-NEXT:   read %a
# CHECK-NEXT:   cond_br %c, ^head, ^exit trip=8
# CHECK-NEXT: ^exit:
# CHECK-NEXT:   return
# CHECK-NEXT: }
