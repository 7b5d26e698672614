# The default takes a schedule only if the matrix unit is busier with it, and says why the others do not fit.
# RUN: fencepost schedule %s 2>&1
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
# CHECK:          %s1 = mma %x1, %y1, %s0
# CHECK-NEXT:     write %a, %ga
# CHECK-NEXT:     write %b, %gb
# CHECK:      @halves: left as it is: the matrix unit would not be busier
# CHECK-NEXT:   matrix unit on gfx942: busy 19% before (an estimate from rough latencies, not a measurement)
# CHECK-NEXT:     two-pp: 12%
# CHECK-NEXT:   two-pp-async does not fit: the tiles of the left operand come in by local writes (FP502)
# CHECK-NEXT:   four-pp does not fit: 2 steps along the reduction cannot be divided into 4 slices (FP504)
