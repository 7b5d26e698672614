# Four clusters take the steps along the reduction in quarters, and there are two.
# RUN: fencepost schedule %s --strategy four-pp 2>&1
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
# CHECK:      error[FP504]: 2 steps along the reduction cannot be divided into 4 slices
# CHECK-NEXT: steps_do_not_divide.fp:17:5
# CHECK:      %s0 = mma %x0, %y0, %sum
# CHECK:      = condition: the steps along the reduction are a multiple of 4
