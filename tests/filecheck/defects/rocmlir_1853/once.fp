# With a single iteration there is no next one: the barrier for it goes.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost check %s | filecheck %s --check-prefix=CLEAN
kernel @once waves=4 {
  shared %a : 1024
  loop %i in 0..1 {
    barrier
    write %a
    barrier
    read %a
  }
}
# CHECK:        loop %i in 0..1 {
# CHECK-NEXT:     write %a
# CHECK-NEXT:     barrier
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK: @once: 1 barrier removed (line 7), 1 kept
# CLEAN: no race, no deadlock
