# What is committed and what is in flight decide, not the kinds of the two operations.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  wait_count tensor=2
  loop %i in 0..62 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    wait_count tensor=2
    mma %x, %y
  }
}
# CHECK:        loop %i in 0..62 {
# CHECK-NEXT:     barrier  #
# CHECK-NEXT:     tensor_load_to_lds %a[(%i + 2) % 3]
# CHECK-NEXT:     tensor_load_to_lds %b[(%i + 2) % 3]
# CHECK-NEXT:     %x = read %a[%i % 3]
# CHECK-NEXT:     %y = read %b[%i % 3]
# CLEAN: no race, no deadlock
