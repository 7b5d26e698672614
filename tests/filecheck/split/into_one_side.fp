# A window that ends on one side of a conditional: signal and wait stand in one region.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @into_one_side waves=4 {
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
  if %c {
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
# CHECK:      kernel @into_one_side waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        if %c {
# CHECK-NEXT:     mma
# CHECK:          signal  # write → read %a
# CHECK-NEXT:     mma
# CHECK:          wait  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
