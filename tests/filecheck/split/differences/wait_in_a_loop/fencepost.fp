# Both halves stand in front of the loop.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @wait_in_a_loop waves=4 {
  shared %a : 1024
  write %a
  compute
  loop %i in 0..8 {
    read %a
  }
}
# CHECK:        compute
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CLEAN: no race, no deadlock
