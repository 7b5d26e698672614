# A barrier between a signal and its wait enters the workgroup's barrier a second time.
# RUN: fencepost insert %s --target gfx1201 2>&1
# EXIT: 2
# RUN: fencepost check %s | filecheck %s --check-prefix=HANG
# EXIT: 1
kernel @barrier_in_between waves=4 {
  shared %a : 1024
  write %a
  signal
  barrier
  wait
  read %a
}
# CHECK: error[FP204]: a barrier between the signal of the workgroup's barrier and its wait
# CHECK: = path: 9 → 10
# HANG:  entered again between its signal and its wait
