# Skewing the waves takes a barrier without a fence, which this target lacks.
# RUN: fencepost schedule %s --strategy two-pp --target sm_90 2>&1
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
# CHECK:      error[FP511]: sm_90 has no barrier without a fence and no priorities of waves
# CHECK:      = condition: two-pp is for targets of amd
