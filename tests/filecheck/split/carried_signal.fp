# What begins the body, and what follows the loop, is signalled in front of the loop and at the end of the body.
# RUN: fencepost insert %s --target gfx1201 --strategy intersect
# RUN: fencepost insert %s --target gfx1201 --strategy intersect | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @carried_signal waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    write %a
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    read %a
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
  }
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  write %a
}
# CHECK:      kernel @carried_signal waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   signal  # read → write %a, next iteration
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     mma
# CHECK:          wait  # read → write %a, next iteration
# CHECK-NEXT:     write %a
# CHECK-NEXT:     mma
# CHECK:          signal  # write → read %a
# CHECK-NEXT:     mma
# CHECK:          wait  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:     mma
# CHECK:          signal  # read → write %a, next iteration
# CHECK-NEXT:     mma
# CHECK:        }
# CHECK-NEXT:   mma
# CHECK:        wait  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
