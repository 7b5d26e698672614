# A barrier between copies and reads orders what was waited for before it is read, but not reads before the next refill.
# RUN: fencepost check --all %s
# EXIT: 1
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
    barrier
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    wait_count tensor=2
    mma %x, %y
  }
}
# CHECK: error[FP001]: wave 1 can start a copy into %a[(%i + 2) % 3] before wave 0 has read %a[%i % 3], which shares bytes with it
# CHECK-NEXT: --> barrier_between.fp:16:5 and barrier_between.fp:13:5
# CHECK: error[FP001]: wave 1 can start a copy into %b[(%i + 2) % 3] before wave 0 has read %b[%i % 3], which shares bytes with it
# CHECK: @pipeline: 2 races
