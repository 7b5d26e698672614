# Waves take turns as two halves of the same size.
# RUN: fencepost schedule %s --strategy two-pp 2>&1
# EXIT: 1
kernel @halves waves=5 {
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
# CHECK:      error[FP505]: 5 waves cannot be divided into two groups of the same size
# CHECK:      = condition: an even number of waves, the same in the kernel and the constraints
