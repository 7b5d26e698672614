# A window that enters a loop: both halves stand in front of it, so that each wait has its signal.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @into_a_loop waves=4 {
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
  }
}
# CHECK:      kernel @into_a_loop waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     mma
# CHECK:          read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
