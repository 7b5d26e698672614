# Producers on both sides of a conditional: the signal goes behind it.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @producers_on_both_sides waves=4 {
  shared %a : 1024
  if %c {
    write %a
  } else {
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
# CHECK:      kernel @producers_on_both_sides waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   if %c {
# CHECK-NEXT:     write %a
# CHECK-NEXT:   } else {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     mma
# CHECK:        }
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
