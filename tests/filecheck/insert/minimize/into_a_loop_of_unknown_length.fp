# A loop of unknown length counts as a long one: the barrier goes in front of it, too.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @into_a_loop_of_unknown_length waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..? {
    read %a
  }
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   loop %i in 0..? {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
