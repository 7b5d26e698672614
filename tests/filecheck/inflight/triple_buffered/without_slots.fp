# With slots not distinguished, every copy may go where the reads are: it is waited for at once, and a second barrier is needed.
# RUN: fencepost insert %s --no-slots 2>&1
# RUN: fencepost insert %s --no-slots | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  loop %i in 0..62 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    mma %x, %y
  }
}
# CHECK:        loop %i in 0..62 {
# CHECK-NEXT:     tensor_load_to_lds %a[(%i + 2) % 3]
# CHECK-NEXT:     tensor_load_to_lds %b[(%i + 2) % 3]
# CHECK-NEXT:     barrier tensor=0  #
# CHECK-NEXT:     %x = read %a[%i % 3]
# CHECK:          barrier  # read → copy %a, next iteration
# CHECK-NEXT:   }
# CHECK: @pipeline: 2 barriers inserted
# CLEAN: no race, no deadlock
