# A barrier that stands there is told to wait.
# RUN: fencepost insert %s 2>&1
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  loop %i in 0..62 {
    barrier
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
# CHECK: @pipeline: 0 barriers inserted
# CHECK: 1 barrier of the kernel now waits
# CLEAN: no race, no deadlock
