# The signal would come behind the wait for the copies, right before the consumer: the barrier stays whole.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @copies_and_writes waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  write %b
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  read %a
  read %b
}
# CHECK:      kernel @copies_and_writes waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   gather_to_lds %a
# CHECK-NEXT:   write %b
# CHECK-NEXT:   mma
# CHECK:        barrier load=0  # copy → read %a; write → read %b
# CHECK-NEXT:   read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
