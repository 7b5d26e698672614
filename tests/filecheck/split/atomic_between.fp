# An atomic is a consumer first and a producer after: a wait before it, a signal behind it.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @atomic_between waves=4 {
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
  atomic %a
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
# CHECK:      kernel @atomic_between waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → update %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → update %a
# CHECK-NEXT:   atomic %a
# CHECK-NEXT:   mma
# CHECK:        signal  # update → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # update → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
