# A barrier that waits for everything waits for less.
# RUN: fencepost prune %s 2>&1
# RUN: fencepost prune %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  loop %i in 0..62 {
    barrier async
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    mma %x, %y
  }
}
# CHECK:        loop %i in 0..62 {
# CHECK-NEXT:     barrier tensor=2
# CHECK-NEXT:     tensor_load_to_lds %a[(%i + 2) % 3]
# CHECK-NEXT:     tensor_load_to_lds %b[(%i + 2) % 3]
# CHECK-NEXT:     %x = read %a[%i % 3]
# CHECK-NEXT:     %y = read %b[%i % 3]
# CHECK: @pipeline: 0 barriers removed, 1 kept
# CHECK: line 12: `barrier async` became `barrier tensor=2`
# CLEAN: no race, no deadlock
