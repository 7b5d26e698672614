# Two exchanges do not commute, and an atomic whose result is used must not be overtaken: a barrier between any two.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy optimal
# RUN: fencepost insert %s --target gfx942 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @exchanges waves=4 {
  shared %a : 1024
  atomic %a update=exchange
  %old = atomic %a update=add
  atomic %a update=add
  atomic %a update=add
  compute %old
}
# CHECK:        atomic %a update=exchange
# CHECK-NEXT:   barrier
# CHECK-NEXT:   %old = atomic %a update=add
# CHECK-NEXT:   barrier
# CHECK-NEXT:   atomic %a update=add
# CHECK-NEXT:   atomic %a update=add
# CLEAN:      no race, no deadlock
