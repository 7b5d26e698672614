# A single wave has nobody to wait for.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @one_wave waves=1 {
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
  read %a
}
# CHECK:      kernel @one_wave waves=1 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
