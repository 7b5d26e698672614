# The barrier that an analysis without copies in flight puts between copies and reads: nothing needs it.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  wait_count tensor=2
  barrier
  loop %i in 0..62 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    barrier
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    wait_count tensor=2
    barrier
    mma %x, %y
  }
}
# CHECK:        loop %i in 0..62 {
# CHECK-NEXT:     tensor_load_to_lds %a[(%i + 2) % 3]
# CHECK-NEXT:     tensor_load_to_lds %b[(%i + 2) % 3]
# CHECK-NEXT:     %x = read %a[%i % 3]
# CHECK-NEXT:     %y = read %b[%i % 3]
# CHECK-NEXT:     wait_count tensor=2
# CHECK-NEXT:     barrier
# CHECK-NEXT:     mma %x, %y
# CHECK: @pipeline: 1 barrier or wait removed (line 16), 4 kept
# CLEAN: no race, no deadlock
