# Where producer and consumer stand side by side, the barrier stays whole.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @nothing_gained waves=4 {
  shared %a : 1024
  write %a
  read %a
}
# CHECK:      kernel @nothing_gained waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
