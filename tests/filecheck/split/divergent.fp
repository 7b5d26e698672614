# No half of a barrier goes inside a divergent conditional.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @divergent waves=4 {
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
  if wave < 2 {
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
# CHECK:      kernel @divergent waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   if wave < 2 {
# CHECK-NEXT:     mma
# CHECK:          read %a
# CHECK-NEXT:   }
# CHECK-NEXT:   mma
# CHECK:        signal  # read → write %a
# CHECK-NEXT:   mma
# CHECK:        wait  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
