# Windows that overlap share a pair: behind the latest producer, before the earliest consumer.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @latest_producer_earliest_consumer waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  read %b
  read %a
}
# CHECK:      kernel @latest_producer_earliest_consumer waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   write %b
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %b; write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %b; write → read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
