# The signal goes right behind the producer, the wait right before the consumer.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @one_window waves=4 {
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
# CHECK:      kernel @one_window waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
