# Signalled in front of the loop and at the end of its body, waited for at the top of the body and behind the loop.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @carried_wait waves=4 {
  shared %a : 1024
  write %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  loop %i in 0..8 {
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
    write %a
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
# CHECK:      kernel @carried_wait waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a; write → read %a, next iteration
# CHECK-NEXT:   mma
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     mma
# CHECK:          wait  # write → read %a; write → read %a, next iteration
# CHECK-NEXT:     read %a
# CHECK-NEXT:     mma
# CHECK:          signal  # read → write %a
# CHECK-NEXT:     mma
# CHECK:          wait  # read → write %a
# CHECK-NEXT:     write %a
# CHECK-NEXT:     mma
# CHECK:          signal  # write → read %a; write → read %a, next iteration
# CHECK-NEXT:     mma
# CHECK:        }
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
