# A barrier behind every wait is one too many where two waits come together.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @two_waits waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  tensor_load_to_lds %b
  wait_count load=0
  barrier
  wait_count tensor=0
  barrier
  read %a
  read %b
}
# CHECK:        wait_count load=0
# CHECK-NEXT:   wait_count tensor=0
# CHECK-NEXT:   barrier
# CHECK-NEXT:   read %a
# CHECK: @two_waits: 1 barrier or wait removed (line 10), 3 kept
# CLEAN: no race, no deadlock
