# The wait comes before the loop.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pair_around_a_loop waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..8 {
    read %a
  }
}
# CHECK:        barrier  # write → read %a
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     read %a
# CLEAN: no race, no deadlock
