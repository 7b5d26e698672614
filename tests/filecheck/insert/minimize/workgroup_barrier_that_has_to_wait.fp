# A workgroup barrier behind a wait for the LDS counter is as good as a barrier; to wait for a copy it becomes one.
# RUN: fencepost insert %s
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @workgroup_barrier_that_has_to_wait waves=2 {
  shared %a : 64
  shared %b : 64
  gather_to_lds %a
  write %b
  wait_count lds=0
  workgroup_barrier
  read %b
  read %a
}
# CHECK:        wait_count lds=0
# CHECK-NEXT:   barrier load=0
# CHECK-NEXT:   read %b
# CHECK-NEXT:   read %a
# CLEAN: no race, no deadlock
