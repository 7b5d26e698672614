# Bytes decide, not names: the second allocation waits until the first has been read.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @packed_allocations waves=4 {
  shared %k : 1024 at 0
  shared %v : 1024 at 512
  write %k
  read %k
  write %v
  read %v
}
# CHECK:        write %k
# CHECK-NEXT:   barrier  # write → read %k
# CHECK-NEXT:   read %k
# CHECK-NEXT:   barrier  # read → write %k/%v
# CHECK-NEXT:   write %v
# CHECK-NEXT:   barrier  # write → read %v
# CHECK-NEXT:   read %v
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
