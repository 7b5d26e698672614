# Slots of a ring distinguished: within an iteration, what is written and what is read never meet.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %a : 3 x 1024
  loop %p in 0..16 {
    write %a[(%p + 1) % 3]
    barrier
    read %a[%p % 3]
    barrier
  }
}
# CHECK:        loop %p in 0..16 {
# CHECK-NEXT:     write %a[(%p + 1) % 3]
# CHECK-NEXT:     read %a[%p % 3]
# CHECK-NEXT:     barrier
# CHECK-NEXT:   }
# CHECK: @ring: 1 barrier removed (line 9), 1 kept
# CLEAN: no race, no deadlock
