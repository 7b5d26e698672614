# A schedule puts the barriers of its loop in by itself, so it comes before `insert`.
# RUN: fencepost schedule %s --strategy two-pp 2>&1
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
    barrier
    write %a, %ga
    write %b, %gb
    next %s1
  }
  read %a
  read %b
}
# CHECK:      error[FP510]: the loop has synchronization of its own: `barrier`
# CHECK-NEXT: barriers_before.fp:19:5
# CHECK:      = condition: schedules come first and bring their barriers along
