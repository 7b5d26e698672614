# The barrier that a function has is told to wait for its caller's copy.
# RUN: fencepost insert %s 2>&1
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
func @meet {
  barrier
}

kernel @caller waves=4 {
  shared %tile : 4096
  tensor_load_to_lds %tile
  call @meet
  read %tile
}
# CHECK:      func @meet {
# CHECK-NEXT:   barrier tensor=0
# CHECK-NEXT: }
# CHECK: @caller: 0 barriers inserted
# CHECK: 1 barrier of the kernel now waits
# CLEAN: no race, no deadlock
