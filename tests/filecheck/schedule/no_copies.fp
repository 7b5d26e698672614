# A schedule for copies does not turn local writes into some.
# RUN: fencepost schedule %s --strategy two-pp-async 2>&1
# EXIT: 1
kernel @halves waves=8 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  %zero = compute
  loop %i in 0..? carry %sum = %zero {
    %ga = global_read
    %gb = global_read
    %x0 = read %a[0..512]
    %y0 = read %b[0..512]
    %x1 = read %a[512..1024]
    %y1 = read %b[512..1024]
    %s0 = mma %x0, %y0, %sum
    %s1 = mma %x1, %y1, %s0
    write %a, %ga
    write %b, %gb
    next %s1
  }
  read %a
  read %b
}
# CHECK:      error[FP502]: the tiles of the left operand come in by local writes
# CHECK-NEXT: no_copies.fp:19:5
# CHECK:      write %a, %ga
# CHECK:      = condition: two-pp-async needs copies straight into shared memory
