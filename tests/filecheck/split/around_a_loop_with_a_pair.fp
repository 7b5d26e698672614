# A pair around a loop that has one of its own: the loop carries it, so that the two do not overlap.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @around_a_loop_with_a_pair waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  loop %i in 0..? {
    read %b
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    write %b
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
  read %a
}
# CHECK:      kernel @around_a_loop_with_a_pair waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %b, next iteration
# CHECK-NEXT:   mma
# CHECK:        loop %i in 0..? {
# CHECK-NEXT:     wait  # write → read %b, next iteration
# CHECK-NEXT:     read %b
# CHECK-NEXT:     mma
# CHECK:          signal  # read → write %b
# CHECK-NEXT:     mma
# CHECK:          wait  # read → write %b
# CHECK-NEXT:     write %b
# CHECK-NEXT:     mma
# CHECK:          signal  # write → read %b, next iteration
# CHECK-NEXT:     mma
# CHECK:        }
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
