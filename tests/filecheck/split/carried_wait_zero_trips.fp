# A loop that may not run: what is signalled in front of it is then waited for behind it.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @carried_wait_zero_trips waves=4 {
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
  loop %i in 0..? {
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
# CHECK:      kernel @carried_wait_zero_trips waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a; write → read %a, next iteration
# CHECK-NEXT:   mma
# CHECK:        loop %i in 0..? {
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
