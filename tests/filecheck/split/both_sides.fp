# Consumers on both sides of a conditional: one pair in front of it.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @both_sides waves=4 {
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
  } else {
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
}
# CHECK:      kernel @both_sides waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   if %c {
# CHECK-NEXT:     mma
# CHECK:          read %a
# CHECK-NEXT:   } else {
# CHECK-NEXT:     read %a
# CHECK-NEXT:     mma
# CHECK:        }
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
